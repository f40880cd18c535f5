// Table: sentences about money, allowances and load. The first match wins.

import { phrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';

/** Money, credits, plan windows. They beat coarser codes: providers answer billing under 400, 401, 403, 412, 429 and 500. */
// prettier-ignore
export const quotaWording: readonly Phrases[] = [
  phrases({ code: 'RATE_LIMITED', overrides: true }, () => [
    [/due to (?:\w+ ){0,2}rate.?limit|requests? already (?:queued|in progress|running|being processed)/, 'Provider temporarily unavailable due to rate limits. Retry after 25 seconds.'],
    [/limit reached.{0,60}\bhourly\b/, 'Rate limit reached. You reached free usage limit (reset hourly).'],
  ]),
  phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
    [/\b(?:insufficient|not enough|no|low) (?:account )?(?:balance|funds)\b/, 'Insufficient Balance'],
    [/balance (?:is )?(?:insufficient|too low|not enough)/, 'Your account balance is not enough to run this request.'],
    [/insufficient_balance/, 'error_code: insufficient_balance'],
    [/reason ?[:=] ?(?:quota|billing|balance)\b|quota\b[^.]{0,60}\bnot enough/, 'user [3446] quota [-20847155] preConsumedQuota [743] is not enough'],
    [/(?:out of|no more|not enough|insufficient|no remaining|no available|more) (?:\w+ ){0,3}credits?\b/, 'You are out of API credits.'],
    [/(?:have|has) (?:any|no) (?:\w+ )?credits?/, "Your newly created team doesn't have any credits yet."],
    [/credits? (?:are |have been |is )?(?:depleted|exhausted|used up|required)/, 'Your prepayment credits are depleted. Please go to AI Studio to manage your project.'],
    [/(?:exhausted|depleted|used up|used all) (?:\w+ ){0,4}credits?\b/, 'Your team has used all available credits.'],
    [/can only afford/, 'You requested up to 64000 tokens, but can only afford 1200.'],
    [/(?:monthly|weekly|hard|billing|specified api|spend(?:ing)?) (?:\w+ )?(?:limit|cap)s?\b.{0,60}(?:reach|exceed|hit)/, 'Billing hard limit has been reached'],
    [/(?:reach|exceed|hit)\w{0,4} (?:\w+ ){0,4}(?:monthly|weekly|billing|hard|spend(?:ing)?|usage) (?:\w+ ){0,3}(?:limit|cap|credit)(?!s? per)/, 'You have reached your monthly spending limit. Raise it in the console to continue.'],
    [/(?:reached|exceeded|exhausted|used up|spent) for (?:this|the|your)(?: current)? (?:month|week|billing)/, 'Maximum number of requests reached for this month.'],
    [/spend_limit_reached/, 'Request refused: spend_limit_reached'],
    [/suspended.{0,40}(?:spend|billing|payment)/, 'Your account org-demo is suspended because of a failed payment.'],
    [/out of (?:\w+ ){0,3}quota/, 'You are out of free quota for this model.'],
    [/(?:usage|session|weekly|opus|5-hour|five-hour|token plan) limit (?:\w+ ){0,3}(?:reached|exceeded|hit)/, '5-hour usage limit reached for your plan, resets at 2026-05-15T15:00:00Z'],
    [/(?:reached|hit|exceeded|used up) (?:[\w-]+ ){0,4}(?:usage|session|weekly|5-hour|plan) (?:limit|allowance|quota|cap)(?! per)/, 'You have exceeded the 5-hour usage quota. It will reset at 18:00.'],
    [/premium request allowance/, 'Sorry, this goes beyond your premium request allowance.'],
    [/hit your (?!rate|concurren)(?:\w+ ){0,2}limit(?! per)/, "You've hit your limit - resets 3pm (Europe/Berlin)"],
    [/draw from your extra usage/, 'Third-party apps now draw from your extra usage, not your plan limits.'],
    [/usage (?:is |has been )?(?:exhausted|used up|depleted)/, 'Usage exhausted. Please try again in 1h 5m.'],
    [/usage limit will reset/, 'Your usage limit will reset at 3pm.'],
    [/out of (?:extra )?usage\b/, "You're out of extra usage - resets 9am (UTC)"],
    [/extra usage is required/, 'Extra usage is required for long context requests.'],
    [/not included in (?:\w+ ){0,3}plan/, 'This model is not included in your current plan.'],
  ]),
  phrases({ code: 'QUOTA_EXCEEDED', overrides: true }, () => [
    [/run out of (?:\w+ ){0,2}(?:funds|credits?|quota|tokens|balance|money)/, 'Your account has run out of funds.'],
    [/(?:plan|tier|subscription) does(?: not|nt) include/, 'Your plan does not include this model.'],
    [/(?:not|doesnt|dont|without|no) (?:have )?(?:a )?free (?:quota|tier|plan)|(?:on|in|for|to) the free (?:tier|plan)\b/, "The preview model doesn't have a free quota tier."],
    [/requires an? (?:\w+ ){0,3}(?:subscription|plan|account).{0,40}upgrade|upgrade (?:for|to get) access/, 'this model requires a subscription, upgrade for access'],
    [/in good standing/, 'Access denied, please make sure your account is in good standing.'],
    [/(?:trial|subscription|membership|plan|package) (?:period )?(?:has |is |was )?(?:ended|expired|lapsed|over|inactive|cancell?ed)/, 'Your trial has ended.'],
    [/no (?:active|valid) (?:\w+ )?(?:subscription|plan|billing|payment)/, 'No active subscription found for this account.'],
    [/insufficient (?:\w+ ){0,2}(?:quota|allowance|tokens remaining)/, 'Insufficient user quota for this request.'],
    [/budget has been exceeded/, 'Budget has been exceeded! Current cost: 10.2, Max budget: 10.0'],
    [/crossed budget/, 'Team=research crossed budget. Spend=12.4, Budget=10.0'],
    [/max budget for|exceeded ?\w{0,12}budget/, 'ExceededTokenBudget: Current spend for token: 1.2; Max Budget for Token: 1.0'],
    [/资源包.{0,6}(?:用尽|用完|耗尽)|计费资源.{0,6}(?:耗尽|用尽)|超过每月限制|停服/, '您的资源包余量已经用完，请购买'],
    [/(?:all|up) (?:of )?your \d+ (?:free )?tokens/, 'You have used all your 50000 tokens.'],
    [/exceeded (?:\w+ ){0,2}budget/, 'Exceeded budget for provider openai: 12.4 >= 10.0'],
    [/budget (?:limit )?exceeded/, 'Budget limit exceeded for this virtual key.'],
    [/over budget/, 'ExceededBudget: End User=user-7 over budget. Spend=3.1, Budget=3.0'],
    [/余额.{0,6}不足/, '您的账户余额已不足，无法继续调用'],
    [/欠费/, '您的账户已欠费，服务已暂停'],
    [/请充值/, '账户可用金额为零，请充值后再试'],
    [/额度不足/, '用户额度不足, 剩余额度: $0.00'],
    [/额度已用/, '该令牌额度已用完'],
    [/额度失败/, '预扣费额度失败, 用户剩余: $0.12, 需要预扣费: $0.35'],
    [/(?:无可用|没有可用的?).{0,4}资源包/, '您没有可用的资源包，请购买后使用'],
    [/用量上限/, '您本月已达到用量上限'],
    [/使用上限/, '已达到 5 小时的使用上限。您的限额将在 18:00 重置。'],
    [/配额已(?:耗尽|用尽|用完|不足|超)/, '您的配额已耗尽，请升级'],
    [/已用尽/, '免费调用次数已用尽'],
    [/账户.{0,6}冻结/, '您的账户已被冻结，请联系客服'],
    [/套餐.{0,8}(?:到期|过期)/, '您的套餐已到期，请续订'],
    [/(?:tokens|requests|neurons|calls|queries|messages|generations) per day\b.{0,40}please wait/, 'Limit of 200 requests per day reached, please wait until tomorrow.'],
    [/too many tokens per day/, 'Too many tokens per day, please wait before trying again.'],
    [/daily (?:\w+ ){0,3}(?:limit|quota|allocation|allowance|cap|usage)\b/, 'You have used up your daily free allocation of 10,000 neurons.'],
    [/free allocated quota exceeded/, 'Free allocated quota exceeded.'],
    [/(?:calls|requests) ?\/ ?month/, 'You are using a Trial key, which is limited to 1000 API calls / month.'],
    [/free.{0,20}(?:per.day|per-day)/, 'Rate limit exceeded: free-models-per-day'],
    [/per.day.{0,12}free/, 'Limit of 50 requests per day (free tier) reached.'],
  ]),
];

/** Words of billing that also occur as advice beside a rate limit. */
// prettier-ignore
export const billingWording: readonly Phrases[] = [
  phrases({ code: 'QUOTA_EXCEEDED' }, () => [
    [/quota (?:limit )?exceeded/, 'Quota exceeded for this subscription.'],
    [/exceeded (?:\w+ ){0,3}quota/, 'You have exceeded your assigned inference quota.'],
    [/check your plan and billing/, 'Access is paused: check your plan and billing.'],
    [/quota (?:has been |is |was )?(?:exhausted|used up)/, 'The quota has been used up. Upgrade to continue.'],
    [/exhausted (?:your|the|their|its|all|my|our) (?:\w+ )?(?:quota|capacity)/, 'You have exhausted your capacity on this model. Your quota will reset after 3h.'],
    [/account is not active/, 'Your account is not active, please contact us through our website.'],
    [/(?:payment|billing) (?:is )?(?:required|details|issue|hard limit|overdue)/, 'Payment Required'],
    [/payment method/, 'No valid payment method on file.'],
    [/add (?:a |more )?(?:credits?|funds|payment)/, 'Add credits to continue, or switch to a free model.'],
    [/\btop.?up\b/, 'Please top up your account to keep using the API.'],
    [/past.due/, 'Your last invoice is past due.'],
    [/in arrears/, 'Access denied: your account is in arrears.'],
    [/overdue/, 'The request failed because your account has an overdue balance.'],
    [/free (?:tier|trial|quota|usage)(?: \w+){0,6} (?:exhausted|ended|expired|exceeded|used up|reached)/, 'The free tier of the model has been exhausted.'],
    [/exceeded (?:your|the) (?:\w+ ){0,3}(?:free|monthly|included|trial)/, 'You have exceeded the free allowance for this model.'],
    [/pre-?paid (?:\w+ )?(?:balance|credits?|quota)/, 'Your prepaid balance has run out.'],
    [/set inference limit/, 'Your account has reached the set inference limit and the model service has been paused.'],
    [/recharge (?:your|the|account)/, 'Please recharge your account before calling the API.'],
    [/unpaid/, 'Your account has an unpaid invoice.'],
  ]),
];

/** Rates, said so plainly that advice to pay for more does not matter. */
// prettier-ignore
export const plainRateWording: readonly Phrases[] = [
  phrases({ code: 'RATE_LIMITED' }, () => [
    [/reduced rate.?limits?/, 'Without a payment method you have reduced rate limits of 3 RPM.'],
    [/rate limit (?:reached|exceeded|hit)/, 'Rate limit reached for requests per min. Please add a payment method to increase your rate limit.'],
    [/(?:reached|exceeded|exceed|hit) (?:\w+ ){0,4}rate.?limit/, "You have exceeded your organization's rate limit. Add a payment method to raise it."],
  ]),
];

/** Rates and concurrency: they refill by themselves. */
// prettier-ignore
export const rateWording: readonly Phrases[] = [
  phrases({ code: 'RATE_LIMITED' }, () => [
    [/rate.?limit/, 'Rate limit reached for requests per minute (RPM): Limit 3, Used 3, Requested 1.'],
    [/too many requests/, 'Too Many Requests'],
    [/(?:token|call|request)s? (?:rate|quota)/, 'Requests have exceeded the call rate of your current S0 pricing tier.'],
    [/(?:tokens?|requests?|queries|calls|images|input tokens|output tokens)(?: \w+)? (?:per|\/) ?(?:minute|second|hour|min|sec|day)/, 'Your key may make 20 calls per second.'],
    [/per.minute/, 'Limit hit: generate_content_requests_per_minute'],
    [/(?:tpm|rpm|rps|qps|rpd|tpd)\b/, 'TPM limit reached.'],
    [/throttl/, 'Request was throttled. Expected available in 12 seconds.'],
    [/concurren(?:t|cy).{0,40}(?:limit|exceed|reach|high|many|max)/, 'Max concurrency reached for this organization: 3 requests'],
    [/(?:limit|exceed(?:ed)?|reached|many|maximum|max) (?:\w+ ){0,4}concurren(?:t|cy)\b/, 'Your account reached max organization concurrency: 3, please try again after 1 seconds'],
    [/parallel requests?.{0,20}limit/, 'Max parallel request limit reached. Hit limit for key.'],
    [/(?:speed|frequency|traffic).limit(?:ed|ing)?\b/, 'Sorry, your request was speed limited.'],
    [/high.frequency|too (?:often|frequently|quickly)\b|request frequency/, 'Detected high-frequency requests from you.'],
    [/slow down/, 'You are sending messages too quickly, please slow down.'],
    [/too many tokens, please wait/, 'Too many tokens, please wait before trying again.'],
    [/requests? (?:too )?(?:fast|frequent)/, 'You are sending requests too fast.'],
    [/exceeded (?!the \d)(?:\w+ ){0,4}(?:request|token) limit/, 'Key exceeded its allotted token limit, try again in 20s.'],
    [/速率限制/, '您的账户已达到速率限制，请您控制请求频率'],
    [/请求(?:过于|太)频繁/, '请求过于频繁，请稍后再试'],
    [/频率(?:过高|过快|限制|超)|控制.{0,6}频率/, '您当前使用该API的频率过高，请稍后再试'],
    [/并发.{0,8}(?:高|限|超)/, '您当前使用该API的并发数过高，请降低并发'],
    [/限流/, '触发限流，请稍后重试'],
    [/请求数限制/, '您已达到总请求数限制：1分钟内最多请求60次'],
    [/error code: 1015/, 'error code: 1015'],
    [/resource (?:has been )?exhausted/, 'Resource has been exhausted (e.g. check quota).'],
    [/resource_exhausted/, 'RESOURCE_EXHAUSTED: please try again in a moment.'],
    [/resourceexhausted/, 'rpc error: code = ResourceExhausted desc = try again'],
    [/exceeds? (?:\w+ )?quota/, 'This call exceeds project quota for the region.'],
  ]),
];

/** The provider's own load. */
// prettier-ignore
export const overloadWording: readonly Phrases[] = [
  phrases({ code: 'OVERLOADED', overrides: true }, () => [
    [/\boverload/, 'Overloaded'],
    [/capacity is (?:currently )?(?:insufficient|not available)/, 'Flex processing capacity is currently insufficient. You were not charged.'],
    [/reset reason: overflow/, 'upstream connect error or disconnect/reset before headers. reset reason: overflow'],
    [/负载.{0,6}(?:高|饱和|已达|过大|过载)/, '当前分组上游负载已饱和，请稍后再试'],
    [/(?:high|heavy|increased|peak|unusual|unexpected) (?:demand|load|traffic)/, 'The system is currently experiencing high demand and cannot process your request.'],
    [/(?:at|over|no|of|lack of|insufficient|out of|limited|max(?:imum)?) capacity\b(?! on this model)/, 'llama-demo is currently over capacity. Please try again and back off exponentially.'],
    [/capacity (?:is )?(?:exceeded|exhausted|unavailable|limit|constraint|temporarily)/, 'Service tier capacity exceeded for this model.'],
    [/(?:server|service|system|engine|llm|model|cluster) (?:is |are )?(?:currently )?(?:too )?busy/, 'Server is busy, please try again later.'],
    [/(?:were|we are|is|are) (?:currently )?(?:processing|receiving|handling|experiencing|serving) (?:too many|a (?:large|high)|an? unusual)/, "We're currently processing too many requests. Please try again later."],
    [/too busy/, 'Sorry, we are too busy right now. Please come back in a moment.'],
    [/no (?:available )?slots?\b(?! for)/, 'no slot available'],
    [/no (?:\w+ )?capacity (?:is )?(?:available|left)/, 'No GPU capacity available'],
    [/serving capacity/, 'Not enough serving capacity for this model right now.'],
    [/no more (?:data centers|workers|instances|gpus)|(?:all|no) (?:available )?(?:workers|replicas|instances|backends|gpus|nodes|runners)(?: are| is)? (?:currently )?(?:busy|occupied|available|in use)/, 'No more data centers to forward the request to'],
    [/worker .{0,20}limit reached/, 'ResourceExhausted: Worker local total request limit reached (33/32)'],
  ]),
  phrases({ code: 'OVERLOADED' }, () => [
    [/too many connections/, 'Too many connections, please wait before trying again.'],
    [/(?:temporarily|currently|is) unavailable(?! (?:in your|for your|to|on your|now))/, 'The model is temporarily unavailable. Please retry.'],
    [/server (?:is )?temporarily limiting/, 'Server is temporarily limiting requests (not your usage limit)'],
    [/is unable to process your request\.?(?:$| \|)/, 'Bedrock is unable to process your request.'],
    [/queue (?:is )?(?:full|exceeded)/, 'The request queue is full.'],
    [/try again (?:later|shortly).{0,40}capacity/, 'Please try again later, the cluster has no spare capacity.'],
    [/访问量过大/, '该模型当前访问量过大，请您稍后再试'],
    [/繁忙/, '系统繁忙，请稍后再试'],
  ]),
];

/** Cold starts. */
// prettier-ignore
export const loadingWording: readonly Phrases[] = [
  phrases({ code: 'MODEL_LOADING', overrides: true }, () => [
    [/(?<!error |failed |while )\bloading model\b/, 'Loading model'],
    [/is currently loading/, 'Model bigcode/starcoder is currently loading'],
    [/model(?: \S+)? is (?:currently |still |being )?(?:loading|starting|warming|initiali[sz]ing)/, 'The model is still initializing, please retry.'],
    [/is being loaded/, 'The model weights file is being loaded into memory.'],
    [/(?:model|deployment|endpoint|instance|replica|container|worker|server|machine|gpu)s? (?:is|are) (?:currently |still |being )?(?:waking|spinning|booting|starting|scaling|coming|being (?:started|deployed|provisioned|created|loaded|initiali[sz]ed))/, 'The endpoint is waking up, please retry.'],
    [/scaled to zero|scaling.up/, 'DEPLOYMENT_SCALING_UP: the deployment is scaled to zero and is scaling up.'],
    [/model (?:\S{1,80} )?is not (?:yet )?ready|modelnotready|not ready yet/, 'Model is not ready for inference. Try again.'],
    [/not ready to serve/, 'The model specified in the request is not ready to serve inference requests.'],
    [/still loading/, 'Weights are still loading, retry in 20 seconds.'],
    [/model is cold\b/, 'This model is cold / not ready for inference'],
    [/cold start/, 'Replica scaled to zero: cold start in progress.'],
    [/warming up/, 'The endpoint is warming up, please retry.'],
    [/(?:endpoint|worker|replica|pod|server|engine|instance|service|runner)s? (?:is|are) (?:still )?(?:initiali[sz]ing|cold|warming|loading|not (?:yet )?ready)|no ready (?:workers|replicas|instances|pods)/, 'worker is initializing, no ready workers'],
    [/container is (?:starting|initiali[sz]ing)/, 'The container is starting, please retry.'],
    [/waiting for (?:the )?model to (?:load|start)/, 'Timed out waiting for the model to load'],
    [/加载中/, '模型加载中，请稍候'],
  ]),
];
