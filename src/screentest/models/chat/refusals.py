"""Recognise an answer that is about itself: the model declines, saw nothing, or guesses.

Forms have a field for this, ``declined``. The short list here is for free text and for objects that
leave that field empty. An answer with a finding is never a refusal: a refusal speaks of the model,
the request and the material, and of nothing else.

>>> declines("[NO] I am unable to view the video.")
True
>>> declines("I can't see any cat in the frames. [NO]")
False
"""

from __future__ import annotations

import re
import unicodedata

# Words in English, French, German, Spanish, Japanese and Chinese; * stands for any ending. No word
# that could stand for a thing in a video: "I cannot see one in it" is a finding.
_DENIALS = """no not none cannot can't couldn't don't didn't won't unable without fail* missing
    never nothing lack* need impossible broken denied please pas aucun* sans ne n'* vide faute
    kein* nicht ohne fehlen mangels sin ningún ninguna faltan imposible ません ない せず 无法
    不能 没有 没法 未能 未 看不到 失败 缺失"""
_DEEDS = """see seen seeing view watch open* load access process perceive receiv* sent given
    attach* provided upload* look arriv* decoded fetched evaluate judge compare missing broken
    voir vois visionner regarder ouvrir d'ouvrir accès accessibles reçu* fourni* jointe charg*
    comparer dispose vide s'affichent d'images sehe* ansehen geöffnet geladen zugriff erhalten
    mitgeschickt gezeigt liegen vorliegen fehlen ver veo acceso abrir adjunt* cargaron recib*
    recibí pud* podido llegaron dispongo comparar faltan 見 開 読み込 確認 添付 提供 受け取 届
    表示 判断 あり 查看 看到 看 打开 观看 收到 加载 上传 比较 缺失"""
_MATERIAL = """videos? images? pictures? frames? clips? files? media content attachments? links
    vidéos? fichiers pièce d'images bilder* anhänge vídeos? imágenes imagen archivos fotograma
    動画 画像 映像 ファイル 视频 图片 画面 文件"""
_GUESSES = """guess* random* placeholder arbitrar* default hasard aléatoire geraten zufällig
    willkürlich platzhalter azar inventada ランダム 仮 推測 随机 占位 随便"""
_REST = """a ability able actually ai an am and any apologize are as at be because been but by
    can chosen choosing conclusion could data did directly do enough example first for format go
    had has have here i i'll i'm information input is it's just language me model my note of on
    only or our pick second seem so since sorry still text that the there these this to
    unfortunately verdict visual was way we were which will with would yes your again answer au
    avoir aux capable chez choisis choix de des désolé donc en est été être il je la les m'est
    moi ont peux première pu réponds réponse sont suis une voici à als auf da daher das den die
    entschieden erste es gewählt habe ich kann konnte* leider mir nur sprachmodell vor werden
    wurde* wähle zu así como el elijo he las lenguaje los modelo primera puedo que respuesta se
    tengo una 最初 私 選 回答 答 申 訳 テキスト モデル 选择 选 任何 只能 第一个 一个 可供 我
    由于 作为 语言 模型 成功"""
_HELPLESS = re.compile(
    r"\b(?:i|i'm|we)(?: am)?(?: \w+)? (?:cannot|can't|won't|unable to|not able to) (?:\w+ly )?"
    r"(?:help|assist|comply|continue|fulfil|watch it|describe it|(?:answer|provide|give) (?:an?|any"
    r"|that|this))\b|\bi(?:'m| am| must| will)? (?:declin|refus)|^(?:error|fatal) *:"
    r"|\bas an? (?:[\w-]+ ){0,3}(?:ai|model),? i\b"
)
# Quoted words are what a video shows; tokens and objects are the answer, not what is said of it.
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|「[^」\n]{1,300}」")
_ANSWER = re.compile(r"\[\s*\w+\s*\]|\b(?:in|dans) (?:your|votre) \w+")
_PARTICLES = re.compile(r"[\u3040-\u309f了到的]")


def _pattern(*lists: str) -> re.Pattern[str]:
    words = " ".join(lists).replace("*", r"\w*").split()
    spaced = "|".join(word for word in words if word < "\u3000")
    unspaced = "|".join(sorted((w for w in words if w > "\u3000"), key=len, reverse=True))
    return re.compile(rf"\b(?:{spaced})(?![\w'])|{unspaced}")


_DENIED, _DONE, _NAMED = _pattern(_DENIALS), _pattern(_DEEDS), _pattern(_MATERIAL)
_GUESSED = _pattern(_GUESSES)
_LISTED = _pattern(_DENIALS, _DEEDS, _MATERIAL, _GUESSES, _REST)


def declines(text: str) -> bool:
    """Tell whether a text is about itself and holds no finding."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").lower()
    before, _, rest = plain.partition("{")
    plain = f"{before} {rest.rpartition('}')[2]}"
    sentences = re.split(r"[.!?;:\n。！？]+", _ANSWER.sub(" ", _QUOTED.sub("quoted", plain)))
    helpless = [sentence for sentence in sentences if _HELPLESS.search(sentence)]
    rest = " ".join(sentence for sentence in sentences if sentence not in helpless)
    if re.search(r"\w", _PARTICLES.sub("", _LISTED.sub("", rest))):
        return False
    denied = _DENIED.search(rest) and _DONE.search(rest) and _NAMED.search(rest)
    return bool(helpless or denied or _GUESSED.search(rest))
