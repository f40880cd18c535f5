// Table: sentences about credentials and rights. The first match wins.

import type { WordingRule } from './verdict.ts';

/** The account itself is shut out; stands before moderation, whose words a ban borrows. */
export const bannedWording: readonly WordingRule[] = [
  {
    code: 'PERMISSION_DENIED',
    overrides: true,
    pattern:
      /access was terminated|can only be used (?:from|with|in|by)|operation not allowed|account type is not|lacks the required|permission is required|not allowed to (?:access|use|call)|matching your (?:guardrail|data policy)|访问被阻断|安全威胁|(?:账户|账号).{0,8}(?:锁定|封禁|违规|禁用)|use.case (?:details|form)|not accessible by integration|under your current plan and policies|requests to this api .{0,80}are blocked/,
    seen: 'Your access was terminated due to violation of our policies.',
  },
];

/** The act is forbidden, whoever asks with whatever key. */
export const permissionWording: readonly WordingRule[] = [
  {
    code: 'PERMISSION_DENIED',
    overrides: true,
    pattern:
      /(?:location|country|region|territory|area)s?(?: \w+){0,4} (?:is |are )?not (?:currently )?(?:supported|allowed|available|served)|not (?:supported|available|allowed) in (?:your|this|the) (?:country|region|location|area)|unsupported.{0,6}(?:country|region|location)|(?:geo|region)(?:graphic(?:al)?)?.?(?:block|restrict)/,
    seen: 'User location is not supported for the API use.',
  },
  {
    code: 'PERMISSION_DENIED',
    overrides: true,
    pattern:
      /(?:account|organi[sz]ation|user|project|team|workspace|consumer|service)(?: \S+){0,6} (?:has been|have been|is|was|are|currently|been) (?:\w+ )?(?:deactivated|disabled|suspended|banned|blocked|restricted|terminated|locked|flagged)|organi[sz]ation must be verified|must be verified to|verify your organi[sz]ation|real.?name|实名/,
    seen: 'This organization has been disabled.',
  },
  {
    code: 'PERMISSION_DENIED',
    overrides: true,
    pattern:
      /not authorized to (?:perform|invoke|access|use)|no identity-based policy|iam (?:user|role|permission)|permission \S+ denied|denied on resource|(?:lacks?|missing|insufficient|required|meet) (?:\w+ ){0,3}(?:scope|permission)|dont have access to the model|do(?:es)? not have (?:\w+ ){0,4}(?:permission|rights?)\b|has not been used in project|api has not been (?:used|enabled)|(?:access|requests?)(?: \S+){0,6} (?:is|are|was|were) (?:denied|blocked|forbidden)|not allowed to use|firewall rules\.?(?:$| \|)|(?:by|to) (?:\w+ ){0,4}firewall|virtual network|public access is disabled|ip address.{0,30}not (?:allowed|authorized)|you have been blocked|currently not allowed|is not allowed for this organization|not entitled|(?:only authorized|restricted) (?:for|to) use with|accept the terms|terms acceptance|no available model endpoints/,
    seen: 'User: arn:aws:iam::000000000000:user/x is not authorized to perform: bedrock:InvokeModel on resource',
  },
];

/** Refusals in words so common that an unknown model or a bad key may use them too. */
export const softPermissionWording: readonly WordingRule[] = [
  {
    code: 'PERMISSION_DENIED',
    pattern:
      /do(?:es)? not have (?:\w+ ){0,4}access|dont have access|access denied|access to (?:this|the) (?:model|resource)|permission denied|model access|attention required|just a moment|checking your browser|enable javascript and cookies|cloudflare.{0,60}(?:block|challenge)|sorry, you have been blocked|error code: 10(?:06|07|08|09|10|12|20)\b|request (?:was )?(?:blocked|not allowed|rejected by)|access forbidden|\bforbidden\b|web application firewall|waf\b|无权|没有权限|权限不足|禁止/,
    seen: 'Attention Required! | Cloudflare. Sorry, you have been blocked. You are unable to access api.example.com',
  },
];

/** The credential itself. */
export const authWording: readonly WordingRule[] = [
  {
    code: 'AUTHENTICATION_ERROR',
    overrides: true,
    pattern:
      /(?:api.?key|x-api-key|access key|api token|token|credential|bearer token|access token|key)s?(?: \S+){0,6}? (?:is|are|was|has|not|cannot|were)(?: \w+)? ?(?:invalid|incorrect|expired|revoked|not valid|not found|missing|wrong|leaked|disabled|deleted|malformed|reported as leaked|inactive|not supported by this api|set)\b|(?:invalid|incorrect|wrong|missing|expired|bad|no|unknown|malformed|revoked|illegal) (?:or (?:missing|expired|invalid) )?(?:x-)?(?:api.?key|access.?key|api.?token|access token|subscription key|bearer token|auth(?:entication|orization)?(?: \w+)? ?(?:token|credentials?|header|key)?|credentials|signature (?!in)|security token|authentication|secret key)\b/,
    seen: 'Incorrect API key provided: sk-...abcd. You can find your API key in the dashboard.',
  },
  {
    code: 'AUTHENTICATION_ERROR',
    overrides: true,
    pattern:
      /authentication (?:fails|failed|failure|error|required|is required|credential)|unauthorized|unauthenticated|not authenticated|not logged in|please (?:run \/login|log ?in|sign in|reauthenticate)|login (?:again|required|fail)|didnt provide an api key|(?:provide|pass|set|supply|specify|check|use)(?: \w+){0,2} (?:valid )?api.?key|api.?key(?: \w+)? (?:is )?(?:required|missing|needed|not found|not valid|expired|invalid)|security token included in the request is|token (?:has |is |seems |appears )?(?:been |to be )?(?:expired|invalid)|(?:oauth|ide|session|refresh) token|could not (?:load|resolve|refresh|validate|find)(?: \w+){0,2} (?:credentials?|authentication|access token)|default credentials|invalid_grant|signature (?:we calculated|does not match|expired)|unable to locate credentials|recognized as|user not found|token_not_found|get authorization/,
    seen: "You didn't provide an API key. You need to provide your API key in an Authorization header.",
  },
  {
    code: 'AUTHENTICATION_ERROR',
    overrides: true,
    pattern:
      /无效的令牌|令牌.{0,8}(?:无效|过期|已)|密钥.{0,8}(?:无效|错误|过期)|身份验证|鉴权|token.{0,6}(?:已过期|无效|不正确)|认证失败|未授权/,
    seen: '无效的令牌',
  },
];
