// Table: sentences about money, allowances and load. The first match wins.

import type { WordingRule } from './verdict.ts';

/** Money, credits, plan windows. They beat coarser codes: providers answer billing under 400, 401, 403, 412, 429 and 500. */
export const quotaWording: readonly WordingRule[] = [
  {
    code: 'RATE_LIMITED',
    overrides: true,
    pattern: /limit reached.{0,60}resets? hourly/,
    seen: 'Rate limit reached. You reached free usage limit (reset hourly).',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /\b(?:insufficient|not enough|no|low) (?:account )?(?:balance|funds)\b|balance is (?:insufficient|too low|not enough)|insufficient_balance/,
    seen: 'Insufficient Balance',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /credit balance is too low|(?:out of|no more|not enough|insufficient|no remaining|no available|more) (?:\w+ ){0,3}credits?\b|requires more credits|(?:have|has) (?:any|no) (?:\w+ )?credits?|credits? (?:are |have been |is )?(?:depleted|exhausted|used up|required)|(?:exhausted|depleted|used(?: up)?|used all) (?:\w+ ){0,4}credits?\b|can only afford/,
    seen: 'Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /(?:monthly|weekly|hard|billing|specified api|spend(?:ing)?) (?:\w+ )?(?:limit|cap)s?\b.{0,60}(?:reach|exceed|hit)|(?:reach|exceed|hit)\w{0,4} (?:\w+ ){0,4}(?:monthly|weekly|billing|hard|spend(?:ing)?|usage) (?:\w+ ){0,3}(?:limit|cap|credit)|spend_limit_reached|suspended.{0,40}(?:spend|billing|payment)|out of (?:\w+ ){0,3}quota/,
    seen: 'You have reached your monthly spending limit. Raise it in the console to continue.',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /(?:usage|session|weekly|opus|5-hour|five-hour|token plan) limit (?:\w+ ){0,3}(?:reached|exceeded|hit)|(?:reached|hit|exceeded|used up) (?:[\w-]+ ){0,4}(?:usage|session|weekly|hourly|5-hour|request|plan) (?:limit|allowance|quota|cap)|premium request allowance|hit your (?:\w+ ){0,2}limit|draw from your extra usage|usage limit will reset|out of (?:extra )?usage\b|extra usage is required|not included in (?:\w+ ){0,3}plan/,
    seen: '5-hour usage limit reached for your plan, resets at 2026-05-15T15:00:00Z',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /budget has been exceeded|crossed budget|exceeded (?:\w+ ){0,2}budget|budget (?:limit )?exceeded|over budget/,
    seen: 'Budget has been exceeded! Current cost: 10.2, Max budget: 10.0',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /余额不足|余额.{0,6}不足|欠费|请充值|额度不足|额度已用|额度失败|资源包|用量上限|使用上限|配额已|已用尽|账户.{0,6}冻结|套餐.{0,8}(?:到期|过期)/,
    seen: '余额不足或无可用资源包,请充值。',
  },
  {
    code: 'QUOTA_EXCEEDED',
    overrides: true,
    pattern:
      /(?:tokens|requests|neurons|calls|queries|messages|generations) per day\b.{0,40}please wait|too many tokens per day|daily (?:\w+ ){0,3}(?:limit|quota|allocation|allowance|cap|usage)\b|free allocated quota exceeded|(?:calls|requests) ?\/ ?month|free.{0,20}(?:per.day|per-day)|per.day.{0,12}free/,
    seen: 'Too many tokens per day, please wait before trying again.',
  },
];

/** Words of billing that also occur as advice beside a rate limit. */
export const billingWording: readonly WordingRule[] = [
  {
    code: 'QUOTA_EXCEEDED',
    pattern:
      /quota (?:limit )?exceeded|exceeded (?:\w+ ){0,3}quota|exceeded (?:your |the |its )?current quota|check your plan and billing|quota (?:has been |is |was )?(?:exhausted|used up)|exhausted (?:your|the) (?:\w+ )?(?:quota|capacity)|account is not active|(?:payment|billing) (?:is )?(?:required|details|issue|hard limit|overdue)|payment method|add (?:a |more )?(?:credits?|funds|payment)|top.?up|past.due|in arrears|overdue|free (?:tier|trial|quota|usage)(?: \w+){0,6} (?:exhausted|ended|expired|exceeded|used up|reached)|exceeded (?:your|the) (?:\w+ ){0,3}(?:free|monthly|included|trial)|pre-?paid|set inference limit|recharge|unpaid/,
    seen: 'You exceeded your current quota, please check your plan and billing details.',
  },
];

/** Rates, said so plainly that advice to pay for more does not matter. */
export const plainRateWording: readonly WordingRule[] = [
  {
    code: 'RATE_LIMITED',
    pattern: /rate limit (?:reached|exceeded|hit)|(?:reached|exceeded|exceed|hit) (?:\w+ ){0,4}rate.?limit/,
    seen: 'Rate limit reached for requests per min. Please add a payment method to increase your rate limit.',
  },
];

/** Rates and concurrency: they refill by themselves. */
export const rateWording: readonly WordingRule[] = [
  {
    code: 'RATE_LIMITED',
    pattern:
      /rate.?limit|too many requests|requests? rate|(?:token|call|request)s? (?:rate|quota)|(?:tokens?|requests?|queries|calls|images|input tokens|output tokens)(?: \w+)? (?:per|\/) ?(?:minute|second|hour|min|sec|day)|per.minute|(?:tpm|rpm|rps|qps|rpd|tpd)\b/,
    seen: 'Rate limit reached for requests per minute (RPM): Limit 3, Used 3, Requested 1.',
  },
  {
    code: 'RATE_LIMITED',
    pattern:
      /throttl|concurren(?:t|cy).{0,40}(?:limit|exceed|reach|high|many|max)|(?:limit|exceed|reach|max|many).{0,40}concurren(?:t|cy)|too many concurrent|parallel requests?.{0,20}limit|slow down|too many tokens, please wait|requests? (?:too )?(?:fast|frequent)|exceeded .{0,30}(?:request|token) limit/,
    seen: 'Max concurrency reached for this organization: 3 requests',
  },
  {
    code: 'RATE_LIMITED',
    pattern:
      /速率限制|请求(?:过于|太)频繁|频率|并发.{0,8}(?:高|限|超)|限流|请求数限制|error code: 1015|you are being rate limited/,
    seen: '您的账户已达到速率限制，请您控制请求频率',
  },
  {
    code: 'RATE_LIMITED',
    pattern: /resource (?:has been )?exhausted|resource_exhausted|resourceexhausted|exceeds? (?:\w+ )?quota/,
    seen: 'Resource has been exhausted (e.g. check quota).',
  },
];

/** The provider's own load. */
export const overloadWording: readonly WordingRule[] = [
  {
    code: 'OVERLOADED',
    overrides: true,
    pattern:
      /\boverload|(?:high|heavy|increased|peak|unusual|unexpected) (?:demand|load|traffic)|(?:at|over|no|of|lack of|insufficient|out of|limited|max(?:imum)?) capacity\b(?! on this model)|capacity (?:is )?(?:exceeded|exhausted|unavailable|limit|constraint|temporarily)|(?:server|service|system|engine|llm|model|cluster) (?:is |are )?(?:currently )?(?:too )?busy|too busy|no (?:available )?slots?\b|serving capacity|worker .{0,20}limit reached/,
    seen: 'The system is currently experiencing high demand and cannot process your request.',
  },
  {
    code: 'OVERLOADED',
    pattern:
      /too many connections|(?:temporarily|currently|is) unavailable(?! in your| for your)|service unavailable|server (?:is )?temporarily limiting|unable to process your request|no healthy (?:upstream|deployment)|queue (?:is )?(?:full|exceeded)|try again (?:later|shortly).{0,40}capacity|访问量过大|繁忙|负载.{0,6}(?:高|饱和|已达|过)/,
    seen: 'Too many connections, please wait before trying again.',
  },
];

/** Cold starts. */
export const loadingWording: readonly WordingRule[] = [
  {
    code: 'MODEL_LOADING',
    overrides: true,
    pattern:
      /\bloading model\b|is currently loading|model(?: \S+)? is (?:currently |still |being )?(?:loading|starting|warming|initiali[sz]ing)|is being loaded|model is not ready|not ready to serve|still loading|cold start|warming up|container is (?:starting|initiali[sz]ing)|waiting for (?:the )?model to (?:load|start)|加载中/,
    seen: 'Model bigcode/starcoder is currently loading',
  },
];
