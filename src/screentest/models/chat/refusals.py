"""Whether a text says that it is not an answer, in six languages.

A model that was sent nothing, sees nothing or will not answer still writes what it was asked for:
"No images were attached, so as a placeholder: first." Such words make an answer void wherever they
stand in it. What counts is the material: "I can't see the video" declines, "I can't see any cat" is
an answer, and mostly a no; to lose those would raise every score that counts what is there.

>>> declining("Score: 4 (placeholder, I could not open the video)")
'(placeholder, i could not open the video)'
>>> declining("I can't see any cat in the frames. [NO]")
''
>>> conditional("Yes, if it were daylight.")
True
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

# ---- English
_FILMS = (
    r"(?:videos?|images?|pictures?|photos?|frames?|clips?|films?|footage|files?|media|content"
    r"|attachments?|links?|visuals?|material)\b"
)
_THE = (
    r"(?:(?:the|this|that|these|those|your|either|both|any|of|two|actual|provided|attached|uploaded"
    r"|given|first|second|video|image|media|visual)\s+)*"
)
# "the picture of a moon on the wall" is something in the film.
_ITSELF = r"(?!\s+(?:of|that|where|which|with|on|hang|show)|\s+in\s+(?:the|which|his|her)\b)"
_I = r"(?:\b(?:i|we)(?:['’]m|['’]re| am| are)?|(?:^|[.!?:;(\n])\s*)"
_CANNOT = (
    rf"{_I}\s*(?:currently |really |simply |unfortunately |honestly |still )?"
    r"(?:cannot|can['’]t|can not|could not|couldn['’]t|won['’]t|will not|(?:was|were|am"
    r"|are) not able to"
    r"|wasn['’]t able to|(?:was |am |be )?unable to|not (?:able|allowed|permitted) to"
    r"|(?:do not|don['’]t) have the ability to|have no (?:way|means|ability) (?:of|to))"
    r"\s+(?:\w+ly\s+)?"
)
_ENGLISH = (
    rf"{_CANNOT}(?:(?:view|see|watch|open|load|play|read|process|analy[sz]e|evaluate|compare"
    rf"|judge|rate"
    r"|assess|access|inspect|perceive|look at|have access to)(?:e?ing)?|seeing|viewing|watching)\s+"
    rf"(?:it\b(?!\s+\w)|them\b|{_THE}{_FILMS}{_ITSELF})",
    rf"\b(?:i|we) (?:do not|don['’]t|did not|didn['’]t|have no"
    rf"|lack)\s+(?:have )?access to {_THE}{_FILMS}",
    rf"\b(?:i|we) (?:do not|don['’]t|did not|didn['’]t|have not|haven['’]t|never)\s+"
    rf"(?:receive|received|get|got|have|actually have)\s+{_THE}{_FILMS}",
    rf"\b(?:i|we) (?:do not|don['’]t|cannot|can['’]t|have not|haven['’]t|never)\s+(?:see"
    rf"|seen)\s+{_THE}{_FILMS}"
    r"\s*(?:[.,;:!?)]|$|attached|provided|here|in (?:this|your|the) (?:conversation|message|chat"
    r"|request|prompt))",
    rf"\bno (?:\w+ )?{_FILMS} (?:was|were|is|are|has been|have been|had been|could be) "
    r"(?:actually )?(?:attached|provided|sent|included|uploaded|received|supplied|given|loaded"
    r"|available"
    r"|accessible|transmitted|opened)\b",
    rf"\bno (?:\w+ )?{_FILMS} (?:attached|provided|sent|included|uploaded|received|supplied"
    rf"|available)\b",
    rf"\b{_FILMS} not (?:provided|attached|supplied|received|uploaded|transmitted|sent)\b",
    rf"\bthere (?:are|were|is|was|aren['’]t|weren['’]t) (?:no|not any"
    rf"|any) (?:\w+ )?{_FILMS} (?:attached|provided"
    r"|included|to (?:look at|see|judge|compare|evaluate|view)|in (?:this|the"
    r"|your) (?:conversation|message|request))",
    rf"\bwithout (?:being able to see|seeing|having seen|viewing|access to"
    rf"|actually seeing) {_THE}{_FILMS}",
    rf"\b{_FILMS} (?:failed to|did not|didn['’]t|does not|doesn['’]t|do not|don['’]t|never"
    rf"|won['’]t|would not)\s*"
    r"(?:load(?:ed)?|open(?:ed)?|arrived?|render(?:ed)?|come through"
    r"|came through)\s*(?:[.,;:!?)]|$|for|on|so|here|properly)",
    rf"\b{_FILMS} (?:could not|couldn['’]t|cannot|can['’]t|can not) be (?:opened|loaded"
    rf"|displayed|processed"
    r"|decoded|accessed|viewed|seen|read|played|retrieved|fetched)(?!\s+(?:clear|well|proper|in "
    r"|as |because|from|under))",
    rf"\b{_FILMS} (?:is|are|was|were) not (?:attached|provided|included|accessible|supported"
    rf"|visible to me"
    r"|available to me|sent)\b",
    r"\bas an? (?:text[- ](?:based|only)|(?:large )?language) (?:model|ai|assistant)\b",
    r"\bas an ai\b[^.\n]{0,30}\b(?:i|we) (?:cannot|can['’]t|do not|don['’]t|am not|am unable"
    r"|have no)\b",
    rf"\b(?:text[- ]only|cannot process|do not support|don['’]t support|not support) (?:model"
    rf"|{_FILMS})",
    r"\bplease (?:re-?)?(?:send|share|provide|attach|upload|supply|try again)\b[^.\n]{0,60}",
    rf"\b(?:i|we) (?:was|were|am|have been|had been|wasn['’]t|weren['’]t) (?:not "
    rf"|never )?(?:actually )?(?:given|shown|sent|provided with) (?:any |no ){_THE}{_FILMS}",
    r"\bnothing (?:was|has been|is) (?:shown|sent|given|provided|attached|visible to me)\b",
    r"\b(?:they|it|which|that|these) (?:did not|didn['’]t|never) (?:arrive|load|come through)",
    r"\b(?:no|lack|lacks|lacking|without|have not|don['’]t have) (?:any |the )?(?:visual|image"
    r"|video) (?:input|access|data|information|capabilit)",
    r"\bonly (?:received|got|have|see|given) (?:the |your |a )?text\b(?! on| in)",
    rf"\b{_FILMS} (?:seems?|appears?) to be (?:missing|unavailable|absent|inaccessible)\b",
    rf"\b(?:request|message|prompt|conversation|input) (?:does not|doesn['’]t|did not"
    rf"|didn['’]t) (?:contain|include|have) {_THE}{_FILMS}",
    r"\bimpossible to (?:judge|compare|evaluate|rate|decide|say)\b[^.\n]{0,30}\bwithout\b",
    rf"\b(?:message|request|prompt|conversation) (?:contained|contains|has|had"
    rf"|included) no {_FILMS}",
    r"\b(?:links?|upload|attachments?|files?) (?:is|are|was|were|seems?|appears?)(?: to (?:be"
    r"|have))? (?:broken|missing|failed|dead|expired)\b",
    rf"\bnone of {_THE}{_FILMS} (?:was|were|is|are) (?:visible to me|attached|provided|sent"
    rf"|loaded|received)",
    rf"\b(?:have|has) not been able to (?:look at|see|view|watch|open) {_THE}{_FILMS}",
    r"\b(?:i|we) (?:cannot|can['’]t|could not|couldn['’]t|do not|don['’]t) see (?:anything"
    r"|a thing)\s*(?:[.,;:!?)]|$)",
    r"\bnothing (?:for me )?to (?:evaluate|judge|compare|look at|see)\b",
    rf"\bwould (?:need|have) to (?:see|view|watch|look at) {_THE}{_FILMS}",
)
_ENGLISH_WHATEVER = (
    rf"{_CANNOT}(?:assist|help|comply|fulfil+|continue|do (?:that|this)|describe)\b",
    rf"{_CANNOT}(?:answer|provide|give|offer|make)\s+(?:(?:the|this|that|these|those|your|an?"
    rf"|any)\s+)*"
    r"(?:\w+\s+)?(?:questions?|requests?|answers?|responses?|descriptions?|ratings?|assessments?"
    r"|judge?ments?"
    r"|verdicts?|comparisons?|that)\b",
    rf"{_CANNOT}(?:determine|tell|say|decide|judge|know)\s+which\s+(?:one|video|clip|of|is)\b",
    r"\b(?:must|have to|i|will|shall) (?:respectfully |politely )?(?:decline|refuse)\b",
    r"\b(?:violates?|against|breach(?:es)?|conflicts? with) (?:our|my|the|openai['’]?s?"
    r"|\w+['’]s)?\s*"
    r"(?:usage |content |safety |community )*(?:polic(?:y|ies)|guidelines)\b",
    r"\brandom(?:ly)? (?:guess|pick|cho|answer|select|verdict|score)|\b(?:pick|cho\w+|select"
    r"|answer)\w*( one)? at random\b",
    r"\b(?:just|only|merely|pure|wild|blind|complete|purely) (?:a )?(?:guess|guessing)\b"
    r"|\bguess(?:ing)? (?:blindly|at random)\b",
    r"\b(?:i|we)(?:['’]m|['’]ll| am| will| must| have to| had to| would| can only)? (?:just "
    r"|simply |only )?guess(?:ing|ed)?\b",
    r"\((?:\w+ )?placeholder\b|\b(?:as|is|just|only|here(?:['’]s| is)|are) (?:an? "
    r"|my )?placeholders?\b"
    r"|\bplaceholder (?:answer|score|value|verdict|response|json|object|rating|only|in the)\b",
    r"\b(?:arbitrar(?:y|ily)|dummy|made[- ]up|fabricated|hypothetical|fictional) (?:answer|score"
    r"|value|verdict|choice"
    r"|response|rating|output|judge?ment|cho[so]|select|pick)\w*",
    r"\b(?:format|answer|output|json|object) would (?:be|look like)\b|\bfor illustration\b",
    r"(?:^|\n)\s*(?:error|exception|traceback|fatal)\b\s*[:(!]|\brate limit (?:exceeded"
    r"|reached)\b|\binternal server error\b",
    r"\b(?:answer|choice|verdict|score|pick|decision|rating) (?:is|was) (?:\w+ly )?(?:arbitrary"
    r"|random|a guess|made up|invented|a placeholder|meaningless)\b",
    r"\((?:purely |just |only |completely )?(?:random|arbitrary|hypothetical|made[- ]up|invented"
    r"|guess(?:ed|work)?|dummy|placeholder|default)\)",
    r"\b(?:i['’]m|i am|we['’]re|we are) (?:declining|refusing)\b",
    r"\b(?:flipped|tossed|tossing|flipping) a coin\b|\bcoin (?:flip|toss)\b",
    r"\b(?:not|n['’]t) (?:have |enough )*(?:enough|sufficient) information to (?:compare|judge"
    r"|evaluate|rate|decide|answer)",
    r"\b(?:i['’]m|i am|being) an? (?:\w+ )?(?:language|text)(?:[- ](?:based|only))? model\b",
    r"\bcontent (?:is|was) not (?:allowed|permitted)\b",
    r"\b(?:choos|pick|select|answer|default)ing? (?:\w+ ){0,2}by default\b"
    r"|\bdefault(?:ing)? to (?:the )?(?:first|second)\b",
)
_ENGLISH_CONDITIONS = (
    rf"\bif (?:{_THE}{_FILMS}|they|it) (?:had been|have been|has been|were|was|are|is|could be"
    rf"|can be|had) (?:actually )?"
    r"(?:sent|provided|attached|available|visible|shown|loaded|shared|included|uploaded"
    r"|accessible|received|seen|opened)\b",
    r"\bif (?:i|we) (?:could|can|had|were able to|was able to)(?: been able to)? (?:see|seen"
    r"|view|viewed|watch|watched|open|access)",
    rf"\bhad {_THE}{_FILMS} (?:been|loaded|arrived)\b",
    rf"\b(?:assuming|supposing|imagining|provided that) (?:that )?{_THE}{_FILMS}",
    rf"\b(?:once|when|as soon as) (?:you|{_THE}{_FILMS}) (?:send|share|provide|attach|upload"
    rf"|(?:are|is|have been) (?:sent|shared"
    r"|provided|attached|uploaded|available))",
)

# ---- French
_FR = (
    r"(?:vid[ée]os?|images?|photos?|s[ée]quences?|films?|clips?|fichiers?|contenus?"
    r"|pi[èe]ces? jointes?|extraits?)\b"
)
_FR_THE = r"(?:(?:les?|la|ces?|cette|cet|vos|votre|des|de|aux?|à|deux|aucune?|d['’]|l['’])\s*)*"
_FRENCH = (
    rf"(?:ne|n['’])\s*(?:peux|pouvons|puis|parviens|arrive|ai|suis|vois"
    rf"|peut)\s*(?:malheureusement |vraiment )?pas\s+"
    rf"(?:pu\s+|en mesure (?:de |d['’]))?(?:[àa] )?(?:voir|visionner|regarder|ouvrir|acc[ée]der"
    rf"|acc[èe]s|charger|lire|analyser|traiter"
    rf"|visualiser|re[çc]u)?\s*{_FR_THE}{_FR}",
    rf"(?:aucune?|pas d['’e]\s?)\s*{_FR}[^.\n]{{0,20}}(?:n['’]\s?(?:a|ont|est|[ée]tait)"
    rf"|jointe?s?|fournie?s?|re[çc]ue?s?|envoy[ée]e?s?|transmise?s?)",
    rf"{_FR}\s+(?:(?:ne|n['’])\s?[^.\n]{{0,24}}pas\s+(?:pu|[ée]t[ée]|charg|ouver|fourni|joint"
    rf"|disponible|accessible))",
    r"impossible (?:de |d['’])(?:voir|visionner|ouvrir|charger|acc[ée]der|lire|juger|comparer"
    r"|[ée]valuer)",
    r"\b(?:veuillez|merci de) (?:envoyer|fournir|joindre|partager|r[ée]essayer|renvoyer"
    r"|t[ée]l[ée]charger)",
    rf"\bsi {_FR_THE}{_FR} (?:avai(?:t|ent)|[ée]tai(?:t|ent)|sont|est|ont|a)\s",
    r"\bsi je (?:pouvais|peux|avais pu) (?:voir|visionner|ouvrir|regarder)",
    rf"\b(?:je n['’]ai|nous n['’]avons|je ne vois|je ne dispose"
    rf"|il n['’]y a)\b[^.\n]{{0,12}}(?:aucune?|pas d['’e]|d['’]aucune?) {_FR}\s*(?:[.,;:!?)]|$"
    rf"|dans v|jointe|[àa] |re[çc]ue)",
    rf"\bsans (?:avoir vu|voir|regarder|acc[èe]s|pouvoir (?:les )?(?:voir"
    rf"|regarder)) {_FR_THE}{_FR}",
    rf"\bpas capable de (?:regarder|voir|visionner|ouvrir|lire) {_FR_THE}{_FR}"
    rf"|\b{_FR} ne me sont pas",
    r"\ben tant que mod[èe]le (?:de langage|textuel|linguistique)",
    rf"\bne dispose pas {_FR_THE}{_FR}",
    rf"{_FR} ne s['’](?:affich|ouvr|charg)\w+ pas\b(?! (?:bien|correctement|assez))",
    rf"\b(?:faute|en l['’]absence) d['’e]\s?{_FR}",
)
_FRENCH_WHATEVER = (
    r"(?:ne|n['’])\s*(?:peux|pouvons|puis|suis"
    r"|saurais)\s*(?:malheureusement )?pas\s+(?:en mesure (?:de |d['’]))?"
    r"(?:[ée]valuer|comparer|juger|r[ée]pondre|(?:vous )?aider|d[ée]terminer|noter|fournir"
    r"|donner suite|donner (?:de|un)|me prononcer)",
    r"\b(?:dois|devons|suis oblig[ée]e?) (?:de )?(?:refuser|d[ée]cliner)\b|\bje refuse\b",
    r"\b(?:choix|r[ée]ponse|s[ée]lection|verdict|note) (?:al[ée]atoire|arbitraire)\b(?! d)",
    r"\b(?:au hasard|al[ée]atoirement|r[ée]ponse fictive|valeur fictive|[àa] titre d['’]exemple"
    r"|je devine|arbitrairement)\b",
)

# ---- German
_DE = (
    r"(?:video\w*|bild(?:er|ern|es|dateien|datei)?|einzelbild\w*|frames?|film(?:e|en|s)?|clips?"
    r"|aufnahmen?|datei(?:en)?"
    r"|anh[äa]ng(?:e|en)?|anhang|inhalte?n?|material(?:ien)?)\b"
)
_DE_THE = (
    r"(?:(?:ich|wir|mir|leider|aktuell|derzeit|hier|die|das|den|diese[ns]?|beiden?|ihre?n?|keine?n?"
    r"|angeh[äa]ngten|bereitgestellten|gesendeten|mitgeschickten) )*"
)
_GERMAN = (
    rf"\b(?:kann|konnte|k[öo]nnen|konnten|darf|werde"
    rf"|m[öo]chte) {_DE_THE}{_DE}[^.!?\n]{{0,30}}\bnicht "
    r"\b(?:sehen|ansehen|anschauen|[öo]ffnen|laden|abspielen|lesen|verarbeiten|analysieren"
    r"|bewerten|beurteilen|vergleichen"
    r"|einsehen|abrufen|geladen|ge[öo]ffnet|angezeigt|verarbeitet|gelesen)\b",
    rf"\b(?:kann|konnte) (?:ich )?(?:leider )?kein\w* {_DE}\s*(?:sehen|[öo]ffnen|laden)",
    rf"\b(?:es )?(?:wurden?|sind|ist|liegen|liegt|habe"
    rf"|haben)\b[^.!?\n]{{0,20}}\bkein\w* {_DE}[^.!?\n]{{0,25}}"
    r"(?:mitgeschickt|mitgesendet|angeh[äa]ngt|[üu]bermittelt|bereitgestellt|gesendet|geschickt"
    r"|beigef[üu]gt|vor\b|erhalten|hochgeladen|bekommen|vorhanden)",
    rf"\bkein\w* {_DE} (?:wurden?|sind|ist|war(?:en)?)\b[^.!?\n]{{0,20}}(?:mitgeschickt"
    rf"|angeh[äa]ngt|[üu]bermittelt|bereitgestellt|gesendet"
    r"|geschickt|beigef[üu]gt|erhalten|hochgeladen|vorhanden)",
    rf"\b{_DE} (?:wurden?|konnten?|lie[ßs]+e?n?|sind"
    rf"|ist)\b[^.!?\n]{{0,12}}\bnicht\b[^.!?\n]{{0,12}}(?:geladen|ge[öo]ffnet|laden|[öo]ffnen"
    r"|mitgeschickt|[üu]bermittelt|gesendet|angeh[äa]ngt|angekommen|verf[üu]gbar|angezeigt"
    r"|sichtbar f[üu]r mich)",
    rf"\bkeinen? (?:zugriff|zugang)\b[^.!?\n]{{0,20}}{_DE}|\bohne (?:die "
    rf"|das )?{_DE}[^.!?\n]{{0,20}}(?:gesehen|zu sehen)",
    r"\bbitte (?:\w+ ){0,4}(?:senden|schicken|h[äa]ngen|laden|f[üu]gen|stellen|sende|schicke"
    r"|lade)\b",
    rf"\b(?:wenn|falls|sofern)\b[^.!?\n]{{0,15}}{_DE}[^.!?\n]{{0,40}}(?:w[äa]ren?|worden"
    rf"|h[äa]tten?|vorl[äa]gen|sichtbar|gesendet)",
    r"\b(?:wenn|falls) ich [^.!?\n]{0,30}(?:sehen k[öo]nnte|gesehen h[äa]tte)",
    rf"\b(?:sehe ich|ich sehe|ich habe|habe ich|erhielt ich|ich erhielt)\s+(?:leider |hier "
    rf"|gar )*kein\w* {_DE}\s*(?:[.,;!)]|$|erhalten|bekommen|gesehen)",
    rf"\bmir wurden?\b[^.\n]{{0,12}}kein\w* {_DE}|\bals (?:reines )?(?:sprach|text)\w*modell"
    rf"|\bkann (?:ich )?(?:leider )?keine?n? {_DE} (?:an)?(?:sehen|schauen)",
    rf"\b(?:anh[äa]nge|dateien|videos|bilder) fehlen\b\s*(?:[.,;!)]|$)"
    rf"|\bliegen?\b (?:mir )?{_DE_THE}{_DE} nicht vor\b|\bmir liegen {_DE_THE}{_DE} nicht\b",
    rf"\bnicht in der lage\b[^.\n]{{0,8}}{_DE_THE}{_DE} zu (?:sehen|[öo]ffnen|bewerten"
    rf"|vergleichen|beurteilen)",
)
_GERMAN_WHATEVER = (
    r"\b(?:kann|k[öo]nnen|darf|m[öo]chte"
    r"|werde)\b[^.!?\n]{0,40}\bnicht\b[^.!?\n]{0,20}\b(?:beantworten|helfen|bewerten|beurteilen"
    r"|vergleichen"
    r"|nachkommen|entscheiden, welche\w*|sagen, welche\w*)\b",
    r"\b(?:muss|m[öo]chte)\b[^.!?\n]{0,20}\b(?:ablehnen|verweigern)\b|\bich (?:lehne|verweigere)\b",
    r"\b(?:platzhalter|zufallswahl|zuf[äa]llig (?:gew[äa]hlt|geraten|ausgew[äa]hlt)|geraten"
    r"|ich rate|blind geraten|beispielhaft|willk[üu]rlich)\b",
)

# ---- Spanish
_ES = (
    r"(?:v[ií]deos?|im[áa]gen(?:es)?|fotos?|fotogramas?|pel[ií]culas?|clips?|archivos?"
    r"|contenidos?|adjuntos?)\b"
)
_ES_THE = r"(?:(?:el|los|las?|estos?|estas?|este|esta|ese|esos|sus?|ning[úu]n\w*|de|al?|dos)\s+)*"
_SPANISH = (
    rf"\bno (?:puedo|pude|podemos|logro|consigo|he podido|me es posible|soy capaz de|tengo"
    rf"|se pued\w+|se pud\w+|he recibido|recib[ií]|veo)\s+"
    rf"(?:realmente )?(?:ver|abrir|acceder|visualizar|reproducir|cargar|procesar|analizar|leer"
    rf"|evaluar|comparar|acceso)?\s*{_ES_THE}{_ES}",
    rf"\bno (?:se )?(?:(?:me )?(?:ha|han|hab[ií]an?) )?(?:adjunt|env[ií]|proporcion|recib|inclu"
    rf"|carg|sub|hay|llegaron|lleg[óo])\w*\s+{_ES_THE}{_ES}",
    rf"\b{_ES} no (?:se )?(?:(?:ha|han) )?(?:pud|carg|abri|llega|est[áa]n? (?:disponible|adjunt)"
    rf"|fue|fueron|sido|podido)",
    r"\bpor favor,? (?:env[ií]|adjunt|proporcion|comparta|vuelv|sub)\w*",
    rf"\bsi {_ES_THE}{_ES} (?:se )?(?:hubier|hubies|fuer|estuvier|estuvies|pudier)\w*"
    rf"|\bsi (?:se )?(?:me )?hubier\w*|\bsi (?:yo )?pudiera ver",
    rf"\bno me (?:lleg|ha llegado|han llegado|envi|mand)\w*|\bsin (?:ver|haber visto|acceso a"
    rf"|poder ver) {_ES_THE}{_ES}|\bno (?:dispongo de|cuento con) {_ES_THE}{_ES}",
    r"\bcomo modelo de (?:lenguaje|texto)",
    rf"\bfaltan {_ES_THE}{_ES}|\bimposible (?:ver|comparar|abrir|evaluar|juzgar) {_ES_THE}{_ES}",
)
_SPANISH_WHATEVER = (
    r"\bno (?:puedo|podemos|me es posible|soy capaz de)\s+(?:evaluar|juzgar|comparar|responder"
    r"|ayudar\w*|determinar|calificar|proporcionar"
    r"|ofrecer|dar una|cumplir|decir cu[áa]l)",
    r"\b(?:debo|tengo que) (?:rechazar|declinar|negarme)\b|\bme niego\b",
    r"\b(?:al azar|aleatoriamente|marcador de posici[óo]n|adivin\w+|respuesta inventada"
    r"|valor inventado|respuesta ficticia|a modo de ejemplo|arbitrariamente)\b",
)

# ---- Japanese and Chinese, which have no spaces between words.
_JA = r"(?:画像|動画|映像|ビデオ|フレーム|ファイル|写真|添付|コンテンツ|素材)"
_JAPANESE = (
    rf"{_JA}(?:ファイル|データ|の内容|自体|そのもの|の中身)?(?:を|が|は|も|に|へ|には|の)?(?:直接|実際に|正しく|正常に|うまく)?(?:見(?:る|え"
    rf"|られ|れ)|閲覧|視聴|表示|確認|読み込|開|再生|アクセス|処理|分析|認識|受信|受け取)[^。！？\n]{{0,14}}"
    r"(?:できません|できない|できず|できな|ません|ませんでした|なかった|れない|失敗)",
    rf"{_JA}[^。！？\n]{{0,16}}(?:添付|提供|送信|送ら|共有|含ま|届)[^。！？\n]{{0,6}}(?:いません|いない|おらず|ません|なかった|ていませ)",
    rf"{_JA}(?:が|は)?(?:ありません|ない(?:ため|ので)|存在しません)",
    r"(?:もし|仮に)[^。！？\n]{0,30}(?:送ら|提供|添付|見(?:え|られ)|表示|あれ|いれ)[^。！？\n]{0,12}(?:れば|たら|なら|ば)",
    r"(?:送って|添付して|提供して|アップロードして|再送して)(?:ください|下さい|いただ)",
    r"(?:テキスト|言語)(?:ベースの|専用の?)?モデル(?:な|で|と|の)",
    rf"{_JA}(?:を|は)(?:まだ)?見ていません|何も(?:見え|表示され)ま?せん",
)
_JAPANESE_WHATEVER = (
    r"(?:お答え|回答|判断|評価|比較|判定|採点|お手伝い|対応|応じる(?:こと)?)(?:は|が|を)?(?:いた|する(?:こと(?:は"
    r"|が))?)?\s*(?:でき(?:ません|かね|ない)|しかね|致しかね)",
    r"(?:お断り|辞退|拒否)(?:し|いた|させ)",
    r"(?:プレースホルダ|仮の(?:回答|答え|値|スコア)|ランダム(?:に|な)|適当に|当てずっぽう|推測(?:に過ぎ|です|で答|で回)|ダミー|例として)",
)
_ZH = r"(?:图片|图像|圖片|圖像|视频|影片|視頻|画面|帧|幀|短片|文件|附件|照片|内容|素材|影像)"
_CHINESE = (
    rf"(?:无法|無法|不能|没办法|沒辦法|没法(?:看)?|未能|看不到|看不见|看不見|打不开|没有权限)(?:直接|实际|正常|真正)?(?:查看|看到|看见|观看|觀看|打开"
    rf"|打開|访问|加载"
    rf"|載入|处理|處理|分析|评估|比较|判断|读取|播放|接收)?(?:任何|这些|這些|这两个|这两段|这个|该|您的|你的|两个|两段|您提供的|你提供的|所附的|所提供的|到"
    rf"|附带的|上传的)*{_ZH}",
    rf"(?:没有|沒有|未|并未|並未|没)(?:收到|附上|附带|附加|上传|上傳|发送|接收到?)(?:任何|这些|实际的|到)*{_ZH}?"
    rf"|(?:没有|沒有|未|并未|並未)(?:提供|看到|看見|加载|包含)(?:任何|这些|这两段|实际的|到)*{_ZH}",
    rf"{_ZH}[^。！？，,\n]{{0,8}}(?:加载失败|載入失敗|无法(?:打开|加载|显示|访问|查看|读取)|未能(?:打开|加载|显示)|没有(?:加载|发送|上传)"
    rf"|打不开|未上传|未提供|未附)",
    rf"(?:如果|假如|假设|倘若|若)[^。！？\n]{{0,12}}{_ZH}[^。！？\n]{{0,16}}(?:发送|提供|上传|加载|可见|的话|附上|能看到|能够)"
    rf"|(?:如果|假如|要是)我?能(?:够)?看到",
    r"请(?:您|你)?(?:重新)?(?:发送|提供|上传|附上|再试)",
    rf"没有任?何?{_ZH}(?:可供|可以|能)|作为(?:一个)?(?:大型)?(?:语言|文本|纯文本|AI)[^，。]{{0,4}}模型",
)
_CHINESE_WHATEVER = (
    r"(?:无法|無法|不能|不便|没办法|难以)(?:为您|對此|对此|就此|真正)?(?:回答|作答|提供帮助|提供协助|评估|評估|评判|评价|比较|比較|判断哪|判斷哪|确定哪"
    r"|協助|协助|帮助您|帮助你|满足|提供(?:评分|评价|答案|判断))",
    r"(?:必须|只能|不得不|恕我|我)(?:拒绝|拒絕|谢绝|婉拒)",
    r"(?:占位|佔位|随机(?:选|猜|给|答)|隨機(?:選|猜)|随便(?:选|猜|给)|瞎猜|胡乱|纯属猜测|只是猜|仅为示例|僅為示例|示例答案|仅作示例|虚构的)",
)


@dataclass(frozen=True, slots=True)
class _Language:
    known_by: re.Pattern[str]
    """Words without one of which a text is not in this language: it saves trying all patterns."""
    material: list[re.Pattern[str]]
    """The pictures are not there or cannot be seen."""
    whatever: list[re.Pattern[str]]
    """No answer, whatever it is about: declined, guessed, an example."""


def _language(known_by: str, material: Iterable[str], whatever: Iterable[str]) -> _Language:
    compiled = ([re.compile(pattern) for pattern in some] for some in (material, whatever))
    return _Language(re.compile(known_by), *compiled)


_LANGUAGES = (
    _language("", (*_ENGLISH, *_ENGLISH_CONDITIONS), _ENGLISH_WHATEVER),
    _language(
        r"\b(?:je|ne|pas|les|des|aucune?|est|au|veuillez|merci|si|impossible|faute|choix"
        r"|n['’]|j['’]|d['’]|l['’])",
        _FRENCH,
        _FRENCH_WHATEVER,
    ),
    _language(
        r"\b(?:ich|nicht|die|das|der|keine?n?|es|wurden?|bitte|geraten|platzhalter|wenn|falls"
        r"|sofern|mangels|leider|willk[üu]rlich|zuf[äa]llig|beispielhaft)\b",
        _GERMAN,
        _GERMAN_WHATEVER,
    ),
    _language(
        r"\b(?:el|los|las|puedo|pude|podemos|se|es|al|por|debo|si|hay|una?|tengo|marcador|imagen"
        r"|veo|me|dispongo|como|sin"
        r"|adivin\w+)\b|[áéíóúñ]",
        _SPANISH,
        _SPANISH_WHATEVER,
    ),
    _language(
        r"[\u3040-\u30ff\u4e00-\u9fff]",
        (*_JAPANESE, *_CHINESE),
        (*_JAPANESE_WHATEVER, *_CHINESE_WHATEVER),
    ),
)
# "to determine if" asks whether; "as if" and "even if" set no condition.
_WHETHER = (
    "determine tell see know sure say confirm check verify unclear certain assess decide as even"
)
_IF = re.compile(
    "".join(f"(?<!{word} )" for word in _WHETHER.split())
    + r"\bif\b|\b(?:unless|assuming|supposing|provided that|in case)\b"
    # Things fall in English films.
    r"|\bfalls (?:es|ich|sie|er|man|wir|die|das|der|den|dem|eine?[rns]?|keine?[rns]?|diese?[rns]?"
    r"|beide|mir|dies|alle|nur|nicht)\b"
    r"|\b(?:sofern|vorausgesetzt)\b|[,;(] (?:wenn|si)\b|\b(?:à condition que|siempre que)\b"
    r"|如果|假如|倘若|もし|仮に|であれば",
    re.IGNORECASE,
)
# What a film shows or says may be quoted: a sign that reads "please try again" declines nothing.
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|「[^」\n]{1,300}」|『[^』\n]{1,300}』"
)
# One sign for each run of spaces: patterns that begin at any of them would try every rest of it.
_SPACE = re.compile(r"\s+")
_LONGEST = 160


def declining(text: str, *, material: bool = True) -> str:
    """The words by which a text says that it is not an answer; empty where there are none.

    Without ``material`` it may speak of pictures that it does not see: it was asked about a text.
    """
    # In lower case rather than with IGNORECASE, which is ten times slower.
    said = _QUOTED.sub('""', _SPACE.sub(_shortest, _visible(text))).lower()
    patterns = (
        pattern
        for language in _LANGUAGES
        if language.known_by.search(said)
        for pattern in (*language.whatever, *(language.material if material else ()))
    )
    found = next((match for pattern in patterns if (match := pattern.search(said))), None)
    if found is None:
        return ""
    # Some patterns begin with the stop before them.
    words = " ".join(found.group().lstrip(".!?:; \n").split())
    end = re.match(r"[^.!?\n。！？]{0,120}\)?", found.string[found.end() :])
    return (words + (end.group() if end else ""))[:_LONGEST].rstrip()


def conditional(sentence: str) -> bool:
    """Whether a sentence that holds an answer makes it depend on something."""
    return _IF.search(sentence) is not None


def _shortest(run: re.Match[str]) -> str:
    return "\n" if "\n" in run.group() else " "


def _visible(text: str) -> str:
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")
