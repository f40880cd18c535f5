// Table: what happened, in the languages that providers, gateways and operating systems speak. The first match wins.

import { phrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';

/** About the request, the account and the provider's load. Chinese phrases that came first stand in the English tables. */
// prettier-ignore
export const foreignRequestWording: readonly Phrases[] = [
  phrases({ code: 'CONTENT_FILTERED', overrides: true }, () => [
    [/合规|安全策略|安全审核|内容审核|不当内容|违反.{0,8}(?:政策|规定|法规)/, '请求内容没有通过安全策略'],
    [/不適切な|コンテンツ.{0,6}(?:ポリシー|フィルタ)|安全性.{0,10}(?:ブロック|拒否)/, '入力に不適切な内容が含まれています'],
    [/부적절한|유해.{0,6}콘텐츠|콘텐츠 정책|안전 정책/, '부적절한 내용이 포함되어 있습니다'],
    [/inhaltsrichtlinie|inhaltsfilter|unangemessene inhalte/, 'Die Anfrage verstößt gegen unsere Inhaltsrichtlinien.'],
    [/politique de contenu|contenu inapproprié|filtre de contenu/, 'La demande enfreint notre politique de contenu.'],
    [/política de (?:contenido|conteúdo)|contenido inapropiado|conteúdo impróprio|filtro de (?:contenido|conteúdo)/, 'La solicitud infringe nuestra política de contenido.'],
    [/политик\S{1,3} (?:контента|безопасности|использования)|недопустим\S{1,4} (?:контент|содерж)|запрещённ\S{1,4} (?:контент|тем)/, 'Запрос нарушает политику контента.'],
    [/politica (?:sui|dei) contenuti|contenuto inappropriato|içerik politikası|uygunsuz içerik/, 'La richiesta viola la politica sui contenuti.'],
  ]),
  phrases({ code: 'CONTEXT_LENGTH_EXCEEDED', overrides: true }, () => [
    [/上下文.{0,8}(?:超|长度)|(?:超过|超出).{0,8}(?:最大长度|上下文|长度限制|token)|输入.{0,6}过长|(?:输入|提示词?|文本)长度.{0,6}超/, '输入长度超过模型的最大长度'],
    [/(?:コンテキスト|トークン|プロンプト).{0,20}(?:超え|超過|長すぎ)/, 'プロンプトがコンテキスト長を超えています'],
    [/(?:컨텍스트|토큰|프롬프트).{0,20}(?:초과|너무 깁|너무 길)/, '프롬프트가 최대 토큰 수를 초과했습니다'],
    [/kontext(?:länge|fenster).{0,30}(?:überschr|übersteig)|(?:überschr|übersteig).{0,40}kontext/, 'Die Eingabe überschreitet die maximale Kontextlänge.'],
    [/(?:dépass\S{1,6}|trop long).{0,50}contexte|contexte.{0,30}dépass|invite est trop longue/, 'La demande dépasse la longueur maximale du contexte.'],
    [/(?:excede|supera|ultrapassa|excedid).{0,50}context|context[ao].{0,30}(?:excedid|superad)/, 'La entrada supera la longitud máxima de contexto.'],
    [/(?:превыш|превос).{0,60}(?:контекст|токен)|(?:контекст|токен).{0,30}превыш|слишком длинн\S{1,4} (?:запрос|контекст|текст)/, 'Запрос превышает максимальную длину контекста.'],
    [/(?:supera|eccede).{0,40}contesto|bağlam.{0,20}(?:aş|uzun)/, "L'input supera la lunghezza massima del contesto."],
  ]),
  phrases({ code: 'REQUEST_TOO_LARGE', overrides: true }, () => [
    [/(?:请求体|文件|图片|图像|附件).{0,8}(?:过大|太大|超过|超出)/, '图片大小超过限制'],
    [/(?:ファイル|画像|リクエスト).{0,12}(?:大きすぎ|サイズ.{0,6}超)/, 'ファイルが大きすぎます'],
    [/(?:파일|이미지|요청).{0,12}(?:너무 큽|크기.{0,8}초과)/, '파일 크기가 제한을 초과했습니다'],
    [/(?:datei|bild|anfrage) ist zu groß|fichier (?:est )?trop (?:volumineux|gros)|(?:archivo|imagen|arquivo|imagem) (?:es |é )?demasiado grande|(?:файл|изображение|запрос) слишком (?:большой|большое|велик)/, 'Die Datei ist zu groß.'],
  ]),
  phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
    [/无可用额度|(?:达到|超过|超出|用完|用尽)了?(?:每日|当日|今日|每天|每月|本月|当月|每周)的?.{0,4}(?:限|额度|上限|用量|配额)|(?:额度|限额|配额).{0,4}(?:耗尽|用完|用尽|不够|超限)|(?:每日|当日|今日|日|每月|本月|月|每周).{0,2}(?:限额|额度|上限|用量).{0,6}(?:已|达到|超)|(?:套餐|订阅).{0,8}(?:用完|用尽|耗尽)|配额.{0,8}(?:用尽|耗尽|用完|不足)|费用不足|请购买|账单|(?:次数|流量|用量).{0,4}(?:用完|耗尽|用尽)/, '错误码 100011：无可用额度'],
    [/利用(?:上限|制限).{0,12}(?:リセット|プラン)|残高.{0,6}(?:不足|足り)|クレジット.{0,8}(?:不足|使い切|なくな|残って)|(?:利用|使用)枠.{0,12}(?:使い切|超え)|支払い.{0,12}(?:必要|方法|期限)/, 'クレジットが不足しています'],
    [/(?:일일|월간|주간) (?:사용량?|한도)|잔액.{0,6}부족|크레딧.{0,10}(?:부족|소진|없습)|할당량.{0,10}(?:소진|모두)|결제.{0,10}(?:필요|실패)/, '크레딧이 부족합니다'],
    [/(?:nutzungs|tages|monats|wochen)(?:limit|kontingent)|guthaben.{0,30}(?:aufgebraucht|nicht aus|erschöpft|zu niedrig)|(?:kein|nicht genügend|unzureichendes) guthaben|kontingent.{0,30}(?:aufgebraucht|erschöpft|ausgeschöpft)|zahlung (?:ist )?erforderlich/, 'Ihr Guthaben ist aufgebraucht.'],
    [/(?:limite|quota) (?:d.?utilisation|dusage|quotidien|journali|mensuel|hebdomadaire)|(?:crédits?|solde).{0,40}(?:insuffisant|épuisé|esgotad)|(?:plus de|pas assez de) crédits?|quota.{0,30}épuisé|paiement requis/, 'Votre solde est insuffisant.'],
    [/l[ií]mite (?:de (?:uso|mensa(?:gens|jes))|di[aá]ri[oa]|mensual|mensal|semanal)|(?:saldo|créditos?|fondos).{0,40}(?:insuficiente|agotad|esgotad)|(?:sin|sem|no (?:tiene|hay)|não há) (?:saldo|créditos|fondos)|(?:cuota|cota|quota).{0,30}(?:agotad|esgotad)|(?:pago|pagamento) (?:es )?(?:requerido|necessário|obbligatorio)/, 'Saldo insuficiente para completar la solicitud.'],
    [/недостаточно (?:средств|кредит|токенов)|задолженност|баланс.{0,30}(?:исчерпан|недостат|отрицат)|(?:квота|лимит(?! (?:запрос|частот))|пакет).{0,30}исчерпан|(?:дневн|суточн|месячн|недельн)\S{1,3} (?:лимит|квот)|лимит (?:использования|на (?:сегодня|день|месяц))|пополните (?:счёт|счет|баланс)|требуется оплата|закончились токены/, 'Недостаточно средств на счёте.'],
    [/limite (?:di utilizzo|giornaliero|mensile)|(?:günlük|aylık|kullanım) (?:limit|kota|sınır)|credito.{0,30}(?:insufficiente|esaurito)|saldo insufficiente|bakiye.{0,20}yetersiz|yetersiz bakiye|kredi.{0,20}(?:bitti|yetersiz|tükendi)|kota.{0,20}(?:doldu|tükendi)/, 'Yetersiz bakiye.'],
  ]),
  phrases({ code: 'MODEL_LOADING', overrides: true }, () => [
    [/模型.{0,6}(?:启动中|正在加载|正在启动|初始化|冷启动)|正在加载.{0,4}模型/, '模型正在加载，请稍后'],
    [/モデル.{0,10}(?:読み込み中|ロード中|起動中)|모델.{0,10}(?:로드 중|로딩 중|불러오는 중|준비 중)/, 'モデルを読み込み中です'],
    [/modell wird (?:noch |gerade )?geladen|modèle.{0,20}en cours de chargement|modelo.{0,20}(?:cargando|carregando|carregado|cargándose)|модель.{0,20}загружается|modello.{0,20}(?:in caricamento|caricando)|model.{0,10}yükleniyor/, 'Das Modell wird gerade geladen.'],
  ]),
  phrases({ code: 'OVERLOADED', overrides: true }, () => [
    [/服务器?.{0,8}(?:过载|拥挤|爆满|压力过大|资源不足)|(?:算力|资源).{0,4}(?:不足|紧张)|高峰期|请求量过大|排队/, '当前算力紧张，请稍后再试'],
    [/混雑|混み合|過負荷|(?:サーバー?|サービス).{0,10}(?:一時的に利用|ビジー)/, 'サーバーが混雑しています'],
    [/과부하|혼잡|(?:서버|서비스).{0,8}(?:바쁩|일시적으로 사용)/, '서버가 과부하 상태입니다'],
    [/überlastet|ausgelastet|vorübergehend nicht (?:verfügbar|erreichbar)/, 'Der Dienst ist derzeit überlastet.'],
    [/surchargé|temporairement indisponible|momentanément indisponible/, 'Le service est temporairement indisponible.'],
    [/sobrecargad|temporalmente no disponible|temporariamente indisponível|no está disponible temporalmente/, 'El servidor está sobrecargado.'],
    [/перегружен|временно недоступ|высок\S{1,4} нагрузк/, 'Сервис временно недоступен.'],
    [/sovraccaric|temporaneamente non disponibile|aşırı yük|geçici olarak kullanılamıyor|çok yoğun/, 'Il servizio è sovraccarico.'],
  ]),
  phrases({ code: 'AUTHENTICATION_ERROR', overrides: true }, () => [
    [/密钥.{0,8}(?:不合法|不正确|不存在|缺失|失效|有误|为空)|未登录|(?:未提供|缺少|没有提供).{0,16}(?:token|令牌|密钥|api ?key|凭证)|(?:api ?key|apikey|令牌|凭证).{0,10}(?:无效|错误|过期|失效|不存在|不正确|不合法|有误|缺失)|身份(?:认证|验证)|鉴权/, '密钥不合法，请检查后重试'],
    [/(?:apiキー|認証|トークン|キー).{0,16}(?:無効|失敗|正しく|期限切れ|エラー|必要)/, 'APIキーが無効です'],
    [/(?:api ?키|인증|토큰).{0,16}(?:유효하지|잘못|만료|실패|필요|올바르지)/, 'API 키가 유효하지 않습니다'],
    [/(?:api-schlüssel|schlüssel|zugangsdaten|anmeldedaten).{0,30}(?:ungültig|abgelaufen|falsch|fehlt)|ungültige[rs]? (?:api-)?(?:schlüssel|zugangsdaten|anmeldedaten|token)|authentifizierung (?:fehlgeschlagen|erforderlich)|nicht authentifiziert/, 'Ungültiger API-Schlüssel.'],
    [/cl[ée] (?:d)?.{0,10}(?:invalide|expirée|incorrecte|manquante)|(?:échec|erreur) d.?authentification|authentification (?:requise|échouée)|jeton.{0,20}(?:invalide|expiré)|identifiants? (?:invalides?|incorrects?)/, "Clé d'API invalide."],
    [/(?:clave|chave|llave).{0,20}(?:no (?:es )?válida|inválida|incorrecta|incorreta|expirada|caducada)|(?:error|erro|falha) de autentica|autentica(?:ción|ção) (?:fallida|requerida|falhou)|credenciales? (?:no válidas|inválidas|incorrectas)|credenciais inválidas|token (?:inválido|expirado|caducado)/, 'La clave de API no es válida.'],
    [/(?:невер|недейств|неправил|некоррект|истек|истёк|просроч)\S{0,8} (?:api.?)?(?:ключ|токен|учётн|учетн|авториз|данн\S{1,3} авториз)|(?:ключ|токен).{0,20}(?:недейств|истёк|истек|неверн|просроч|не найден)|ошибка (?:авторизации|аутентификации)|не авторизован|требуется авторизация/, 'Неверный API-ключ.'],
    [/chiave.{0,20}(?:non valida|scaduta|errata)|autenticazione (?:fallita|richiesta|non riuscita)|credenziali non valide|(?:anahtar|jeton).{0,20}(?:geçersiz|süresi)|geçersiz (?:api )?(?:anahtar|jeton)|kimlik doğrulama/, 'Geçersiz API anahtarı.'],
  ]),
  phrases({ code: 'MODEL_NOT_FOUND', overrides: true }, () => [
    [/模型.{0,16}(?:不存在|(?:不|暂不|不被)支持(?=$|[。，,.!！(（]| \|)|不可用|未上架|已停用|已弃用|无可用渠道|不正确|有误)|无可用渠道|(?:不支持|无效|未知|没有找到|错误)的?.{0,4}模型|模型名称?.{0,4}(?:错误|无效)/, '您请求的第三方模型暂不支持'],
    [/モデル.{0,24}(?:存在しません|見つかりません|見つから|サポートされていません|廃止|無効)/, '指定されたモデルが見つかりません'],
    [/모델.{0,24}(?:존재하지|찾을 수 없|지원되지|지원하지|종료)/, '모델을 찾을 수 없습니다'],
    [/modell .{0,40}(?:nicht gefunden|existiert nicht|nicht verfügbar|unbekannt|wird nicht unterstützt)|unbekanntes modell|modèle .{0,40}(?:introuvable|nexiste pas|inconnu|pas trouvé|pas disponible)|modelo .{0,40}(?:no (?:existe|encontrado|se encontr|está disponible|disponible)|não (?:existe|encontrado|foi encontrado|disponível))|модел\S{1,3} .{0,40}(?:не найден|не существ|недоступ|не поддерж)|modello .{0,40}(?:non trovato|non esiste|non disponibile)|model .{0,30}(?:bulunamadı|mevcut değil)/, 'Das Modell gpt-x wurde nicht gefunden: Modell nicht verfügbar'],
  ]),
  phrases({ code: 'PERMISSION_DENIED', overrides: true }, () => [
    [/(?:没有|无|未(?:获得|开通|授予)).{0,12}(?:权限|访问权|授权|资格)|未开通|地区.{0,8}(?:不支持|限制|不可用)|只能在指定|(?:ip|网段).{0,8}(?:不在|限制|白名单)|已被(?:禁用|封禁|停用)|不允许(?:访问|使用|调用)|被拒绝/, '该令牌只能在指定网段使用'],
    [/権限.{0,8}(?:ありません|不足|がない|必要)|アクセス.{0,8}(?:拒否|許可されて|できません|禁止)|許可されて(?:いません|いない)|(?:お住まいの|この)(?:国|地域)/, 'このモデルへのアクセス権限がありません'],
    [/권한.{0,8}(?:없|부족|필요)|접근.{0,8}(?:거부|차단|금지)|허용되지 않|지원되지 않는 (?:지역|국가)/, '이 모델에 대한 권한이 없습니다'],
    [/(?:keine|fehlende|nicht die) (?:erforderlichen? )?berechtigung|zugriff (?:wurde )?(?:verweigert|nicht erlaubt|gesperrt)|nicht berechtigt|in (?:ihrem|deinem) (?:land|region) nicht verfügbar|konto.{0,20}(?:gesperrt|deaktiviert)/, 'Zugriff verweigert.'],
    [/accès (?:refusé|interdit|non autorisé)|(?:pas|aucune) (?:l)?.{0,12}(?:autorisation|permission)|non autorisé à|compte.{0,20}(?:suspendu|désactivé|bloqué)|pas disponible dans votre (?:pays|région)/, 'Accès refusé.'],
    [/acceso (?:denegado|prohibido|restringido)|acesso (?:negado|proibido|restrito)|(?:no (?:tiene|tienes)|não (?:tem|possui)) (?:permiso|permissão|acceso|acesso|autoriza)|cuenta.{0,20}(?:suspendida|desactivada|bloqueada)|conta.{0,20}(?:suspensa|desativada|bloqueada)|no (?:está )?disponible en (?:su|tu) (?:país|región)/, 'Acceso denegado.'],
    [/доступ.{0,20}(?:запрещ|закрыт|ограничен|отклон|отказан)|нет (?:прав|доступа|разрешения)|недостаточно прав|(?:аккаунт|учётная запись|учетная запись|пользователь).{0,20}(?:заблокирован|отключ|приостановлен)|недоступ\S{1,4} в вашем (?:регионе|стране)|в вашей стране/, 'Доступ к модели запрещён.'],
    [/accesso (?:negato|non consentito|vietato)|non (?:hai|si dispone) .{0,20}(?:autorizza|permess)|erişim (?:reddedildi|engellendi|yasak)|(?:izniniz|yetkiniz) yok|yetkisiz/, 'Accesso negato.'],
  ]),
  phrases({ code: 'RATE_LIMITED' }, () => [
    [/限流|限速|限频|速度过快|请求.{0,4}(?:过多|过快|太多|太快)|(?:访问|请求|调用).{0,4}频率|频繁|(?:请求|调用|访问)次数.{0,6}(?:超|限|达到)|超(?:过|出|了).{0,10}(?:速率|频率|限额|限制次数|qps|rpm|tpm)|(?:每分钟|每秒).{0,16}(?:限|超|最多)/, '该模型遇到官方限速,请稍后重试'],
    [/レート制限|リクエスト.{0,10}(?:多すぎ|制限|上限|頻繁)|利用制限|使用制限|制限に達し|(?:回数|上限)に達し/, 'リクエストが多すぎます'],
    [/요청.{0,12}(?:너무 많|한도|제한|초과|빈번)|속도 제한|사용량 (?:한도|제한)|한도를? 초과/, '요청이 너무 많습니다'],
    [/zu viele anfragen|anfragelimit|ratenlimit|ratenbegrenzung|anfragen pro (?:minute|stunde)/, 'Zu viele Anfragen. Bitte warten.'],
    [/trop de (?:requêtes|demandes|tokens)|limite de (?:débit|requêtes|taux)|requêtes par (?:minute|seconde)/, 'Trop de requêtes.'],
    [/demasiad[ao]s (?:solicitudes|peticiones|consultas)|muitas (?:solicitações|requisições|tentativas)|excesso de requisições|límite de (?:solicitudes|velocidad|peticiones|tasa|frecuencia)|limite de (?:solicitações|requisições|taxa|velocidade)/, 'Demasiadas solicitudes.'],
    [/слишком (?:много|часты)\S{0,2} запрос|(?:превыш|достиг)\S{0,6} .{0,20}(?:лимит|частот|количеств)|лимит (?:запросов|частоты)|запросов в (?:минуту|секунду)/, 'Слишком много запросов.'],
    [/troppe richieste|limite di (?:frequenza|richieste|velocità)|çok fazla istek|istek (?:sınırı|limiti)|hız sınırı/, 'Çok fazla istek.'],
    [/te veel verzoeken|zbyt wiele żądań|limit żądań|för många förfrågningar|quá nhiều yêu cầu|terlalu banyak permintaan/, 'Zbyt wiele żądań.'],
  ]),
];

/** About the connection and the server. */
// prettier-ignore
export const foreignTransportWording: readonly Phrases[] = [
  phrases({ code: 'NETWORK_ERROR', retryable: false, overrides: true }, () => [
    [/(?:远程|服务器)证书.{0,4}(?:无效|过期)|証明書は無効|인증서가 (?:잘못|유효하지|만료)|zertifikat.{0,60}(?:ungültig|abgelaufen)|certificat .{0,30}(?:pas valide|invalide|expiré)|certificado .{0,30}(?:no es válido|inválido|caducado|expirado)|сертификат.{0,30}(?:недействит|просроч|истёк|истек)|certificato .{0,30}(?:non (?:è )?valido|scaduto)/, 'Das Zertifikat des Servers ist ungültig.'],
  ]),
  phrases({ code: 'INVALID_RESPONSE' }, () => [
    [/(?:返回|响应|回复|结果|内容|输出)(?:的?内容|结果|数据)?(?:为空|是空)|空(?:响应|回复|内容)|(?:未|没有)(?:返回|收到|生成).{0,6}(?:内容|结果|数据|回复|响应)|解析.{0,8}(?:失败|错误|出错)|无法解析|(?:空|無効)の?(?:応答|レスポンス)|(?:応答|レスポンス).{0,8}(?:空|解析|ありません)|(?:빈 응답|응답이 (?:비어|없)|응답.{0,8}(?:파싱|해석))/, '模型返回内容为空'],
    [/(?:leere|ungültige|keine|fehlerhafte) antwort|antwort.{0,30}(?:leer|nicht (?:gelesen|verarbeitet|geparst))|réponse (?:est )?(?:vide|invalide|illisible)|(?:aucune|pas de) réponse|respuesta (?:está )?(?:vacía|no válida|inválida)|resposta (?:está )?(?:vazia|inválida)|(?:пустой|некорректный|неверный|недопустимый) ответ|ответ.{0,20}(?:пуст|не удалось (?:разобрать|прочитать))|risposta (?:è )?(?:vuota|non valida)|boş yanıt|geçersiz yanıt|pusta odpowiedź|leeg antwoord/, 'Leere Antwort vom Modell.'],
  ]),
  phrases({ code: 'TIMEOUT' }, () => [
    [/响应时间过长|没有(?:正确)?(?:答复|响应)|逾時|未正確回應|一定の時間を過ぎても|응답이 없어|タイムアウト|時間切れ|시간.{0,4}초과|타임아웃/, 'タイムアウトしました'],
    [/zeitüberschreitung|zeitlimit.{0,20}überschritten|(?:délai|temps) .{0,24}(?:dépassé|expiré|écoulé)|tiempo de espera|tempo (?:limite|esgotado|de espera)|(?:превышен|истек|истёк)\S{0,2} .{0,16}(?:время|интервал|таймаут|тайм-аут)|время ожидания|тайм-?аут|tempo scaduto|timeout scaduto|zaman aşımı|(?:przekroczono|upłynął) (?:limit )?czasu|délai .{0,40}expiré|requête a expiré|за требуемое время|(?:gegenstelle|remotehost).{0,30}nicht richtig reagiert|ne .{0,6}pas répondu convenablement/, 'Zeitüberschreitung der Anforderung'],
  ]),
  phrases({ code: 'NETWORK_ERROR' }, () => [
    [/(?:无法|不能|未能)(?:连接|访问.{0,6}服务器)|连接.{0,6}(?:失败|被拒绝|被重置|已断开|中断|超时)|积极拒绝|强迫关闭|网络.{0,4}(?:连接|不可用|异常|中断)|域名解析|无法连接的(?:网络|主机)|不知道这样的主机|主机中的软件中止|请求的地址无效|解析此?远程名称|基础连接已经关闭|目標電腦|強制關閉|無法(?:連線|識別)/, '由于目标计算机积极拒绝，无法连接。'],
    [/接続.{0,10}(?:できません|拒否|失敗|切断|リセット|エラー)|ネットワーク.{0,8}(?:エラー|接続)|インターネット接続|ホストは不明|到達できない|ホスト名のサーバ|強制的に切断/, '対象のコンピューターによって接続が拒否されました'],
    [/연결.{0,10}(?:거부|실패|끊|할 수 없|재설정)|네트워크.{0,8}(?:오류|연결)|인터넷 연결|강제로 끊|알려진 호스트가 없/, '대상 컴퓨터에서 연결을 거부했으므로 연결하지 못했습니다'],
    [/keine verbindung|verbindung.{0,60}(?:verweigert|geschlossen|getrennt|zurückgesetzt|fehlgeschlagen|unterbrochen|abgebrochen)|internetverbindung|(?:host|netzwerk|remotename|name|server).{0,40}nicht (?:gefunden|bekannt|erreichbar|aufgelöst)|host ist unbekannt|verbindung.{0,30}(?:nicht hergestellt|abgelehnt)|verbindungsaufbau|datenübergabe unterbrochen/, 'Es konnte keine Verbindung hergestellt werden, da der Zielcomputer die Verbindung verweigerte.'],
    [/aucune connexion|connexion.{0,60}(?:refusée|fermée|réinitialisée|interrompue|perdue|échoué|impossible)|connexion (?:à )?internet|hôte (?:inconnu|est inconnu|introuvable)|connexion ré-?initialisée|impossible de se connecter|nom (?:distant .{0,12}pas pu|ou service inconnu)|réseau nest pas (?:accessible|disponible)/, 'Aucune connexion n’a pu être établie car l’ordinateur cible l’a expressément refusée'],
    [/(?:no se (?:pudo|puede)|não foi possível) .{0,30}(?:conex|conect)|conexión.{0,60}(?:rechaz|deneg|cerrad|perdid|fallid|interrump|restablec)|conexão.{0,60}(?:recusad|fechad|perdid|falh|interrompid|redefinid)|conexi?[óã]o? (?:a |à )internet|(?:host|servicio|serviço) desconocido|conexión (?:rehusada|reinicializada)|perdió la conexión|interrupción de una conexión|cancelamento de uma conexão|nenhuma conexão|(?:la|a) red(?:e)? (?:es inaccesible|está fora)|resolver el nombre|host não é conhecido/, 'No se puede establecer una conexión ya que el equipo de destino denegó expresamente dicha conexión'],
    [/(?:не удалось|невозможно) (?:подключ|установить (?:соедин|подключ)|соедин|разреш)|(?:соединение|подключение).{0,60}(?:отверг|разорван|сброшен|закрыт|прерван|не установлено|отклон)|(?:интернет|сет)\S{0,3}.{0,4}(?:соединени|подключени)|ошибка сети|нет (?:сети|интернета|соединения)|разорвал существующее|хост неизвестен|разрешить удал[её]нное имя|соединении отказано|сеть недоступна|служба не известн|нет маршрута/, 'Подключение не установлено, т.к. конечный компьютер отверг запрос на подключение'],
    [/impossibile (?:stabilire|connettersi|raggiungere)|connessione.{0,40}(?:rifiutata|chiusa|interrotta|persa|fallita)|bağlantı.{0,40}(?:kurulamadı|reddedildi|kesildi|kapatıldı|sıfırlandı)|hedef makine|bağlantı.{0,40}kapatıl|ana bilgisayar bilinmiyor|połączeni\S{1,2}.{0,30}(?:odrzuc|odmawia|zamkn|przerwan)|nawiązać połączenia|nieznany host|host sconosciuto|servizio sconosciuto|rete non è raggiungibile|connessione in corso|geen verbinding|verbinding (?:is )?(?:geweigerd|verbroken)|verbinding.{0,40}verbroken|inte att göra en anslutning/, 'Impossibile stabilire la connessione. Rifiuto persistente del computer di destinazione.'],
  ]),
  phrases({ code: 'CANCELLED' }, () => [
    [/取消了?请求|请求.{0,4}(?:已|被)取消|キャンセルされ|취소되었|(?:anfrage|vorgang) (?:wurde )?abgebrochen|(?:requête|opération) annulée|(?:solicitud|operación) cancelada|(?:solicitação|operação) cancelada|(?:запрос|операция) (?:был[ао]? )?отмен[её]н|richiesta annullata|istek iptal|任务已取消|aufgabe wurde abgebrochen|tâche a été annulée|canceló una tarea|tarefa foi cancelada|отменена задача/, '客户端取消了请求'],
  ]),
  phrases({ code: 'SERVER_ERROR' }, () => [
    [/服务器?.{0,8}(?:内部|出错|故障|出现问题|未知)|未知错误|上游.{0,8}(?:错误|异常|失败)|サーバー.{0,10}エラー|内部エラー|予期しないエラー|서버.{0,6}오류|내부 오류|알 수 없는 오류/, 'サーバーの内部エラー'],
    [/interner (?:server)?fehler|erreur interne|error interno|erro interno|внутренн\S{1,3} ошибк|errore interno|iç sunucu hatası|sunucu hatası|unerwarteter fehler|erreur inattendue|неизвестная ошибка/, 'Interner Serverfehler'],
  ]),
  phrases({ code: 'INVALID_REQUEST' }, () => [
    [/参数.{0,10}(?:错误|无效|不合法|缺失|不正确|有误|非法|为空|不支持)|(?:缺少|无效|非法|错误)的?.{0,8}参数|格式(?:错误|不正确|有误)|请求(?:错误|无效|不合法)|不支持该?(?:参数|功能|接口)/, '请求参数错误'],
    [/パラメータ.{0,12}(?:無効|不正|エラー|必要|正しく)|(?:不正|無効)なリクエスト|잘못된 (?:요청|매개변수|파라미터)|매개변수.{0,10}(?:잘못|유효하지)/, 'パラメータが不正です'],
    [/ungültige[rs]? (?:anfrage|parameter|wert)|(?:requête|paramètre)s? (?:\S{1,20} )?(?:invalide|incorrect|manquant)|(?:solicitud|parámetro|petición|requisição|parâmetro|solicitação)s? (?:\S{1,20} )?(?:no válid|inválid|incorrect|faltante)|(?:невер|некоррект|недопустим|неправил)\S{1,4} (?:запрос|параметр|формат|значен)|(?:richiesta|parametro) non valid|geçersiz (?:istek|parametre)/, 'Ungültige Anfrage: Parameter fehlt'],
  ]),
];
