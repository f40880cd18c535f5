// Table: sentences about credentials and rights. The first match wins.

import { phrases } from './phrases.ts';
import type { WordingRule } from './verdict.ts';

/** The account itself is shut out; stands before moderation, whose words a ban borrows. */
// prettier-ignore
export const bannedWording: readonly WordingRule[] = [
  ...phrases({ code: 'PERMISSION_DENIED', overrides: true }, [
    [/access was terminated/, 'Your access was terminated due to violation of our policies.'],
    [/can only be used (?:from|with|in|by)/, 'This key can only be used with coding agents such as Kimi CLI.'],
    [/operation not allowed/, 'Operation not allowed'],
    [/authentication is disabled/, 'Key based authentication is disabled for this resource.'],
    [/not (?:yet )?available (?:for|to) (?:this|your|free) (?:subscription|plan|account|organization|users)/, 'The long context beta is not yet available for this subscription.'],
    [/cannot be invoked in region/, 'The model cannot be invoked in region europe-west99'],
    [/no allowed providers/, 'No allowed providers are available for the selected model.'],
    [/account type is not/, 'Your account type is not eligible for this endpoint.'],
    [/lacks the required/, "The principal lacks the required data action 'OpenAI/deployments/chat/completions/action'."],
    [/permission is required/, 'The `models` permission is required for this endpoint.'],
    [/not allowed to (?:access|use|call)/, "Key not allowed to access model. This key can only access models=['gpt-4o']."],
    [/matching your (?:guardrail|data policy)/, 'No endpoints found matching your data policy (Free model publication).'],
    [/访问被阻断/, '很抱歉，您的访问被阻断。'],
    [/安全威胁/, '很抱歉，由于您访问的URL有可能对网站造成安全威胁。'],
    [/(?:账户|账号).{0,8}(?:锁定|封禁|违规|禁用)/, '您的账户已被锁定，请联系客服解锁。'],
    [/use.case (?:details|form)/, 'Model use case details have not been submitted for this account.'],
    [/not accessible by integration/, 'Resource not accessible by integration'],
    [/under your current plan and policies/, 'This model is not offered under your current plan and policies.'],
    [/requests to this api .{0,80}are blocked/, 'Requests to this API generativelanguage.googleapis.com method GenerateContent are blocked.'],
  ]),
];

/** The act is forbidden, whoever asks with whatever key. */
// prettier-ignore
export const permissionWording: readonly WordingRule[] = [
  ...phrases({ code: 'PERMISSION_DENIED', overrides: true }, [
    [/(?:location|country|region|territory|area)s?(?: \w+){0,4} (?:is |are )?not (?:currently )?(?:supported|allowed|available|served)/, 'User location is not supported for the API use.'],
    [/not (?:supported|available|allowed) in (?:your|this|the) (?:country|region|location|area)/, 'Claude is not available in your country.'],
    [/unsupported.{0,6}(?:country|region|location)/, 'Unsupported region: HK'],
    [/(?:geo|region)(?:graphic(?:al)?)?.?(?:block|restrict)/, 'This endpoint is geo-blocked.'],
    [/(?:account|organi[sz]ation|user|project|team|workspace|consumer|service)(?: \S+){0,6} (?:has been|have been|is|was|are|currently|been) (?:\w+ )?(?:deactivated|disabled|suspended|banned|blocked|restricted|terminated|locked|flagged)/, 'This organization has been disabled.'],
    [/organi[sz]ation must be verified/, 'Your organization must be verified before it can use this model.'],
    [/must be verified to/, 'Your profile must be verified to generate reasoning summaries.'],
    [/verify your organi[sz]ation/, 'To stream this model, verify your organization in the settings.'],
    [/real.?name (?:verif|authent|certif)/, 'Please complete real-name verification first.'],
    [/实名/, '请先完成实名认证后再调用接口。'],
    [/not authorized to (?:perform|invoke|access|use)/, 'User: arn:aws:iam::000000000000:user/x is not authorized to perform: bedrock:InvokeModel on resource'],
    [/no identity-based policy/, 'Denied because no identity-based policy allows the bedrock:InvokeModel action.'],
    [/iam (?:user|role|permission)/, 'No IAM role of this principal grants aiplatform.endpoints.predict.'],
    [/permission \S+ denied/, "Permission 'aiplatform.endpoints.predict' denied for this caller."],
    [/denied on resource/, 'Permission denied on resource project demo-project.'],
    [/(?:lacks?|missing|insufficient|required|meet) (?:\w+ ){0,3}(?:scope|permission)/, 'Request had insufficient authentication scopes.'],
    [/dont have access to the model/, "You don't have access to the model with the specified model ID."],
    [/do(?:es)? not have (?:\w+ ){0,4}(?:permission|rights?)\b/, 'The caller does not have permission'],
    [/has not been used in project/, 'generativelanguage.googleapis.com has not been used in project 1234 before.'],
    [/api has not been (?:used|enabled)/, 'Generative Language API has not been enabled for this caller.'],
    [/(?:access|requests?)(?: \S+){0,6} (?:is|are|was|were) (?:denied|blocked|forbidden)/, 'Requests from referer <empty> are blocked.'],
    [/firewall rules\.?(?:$| \|)/, "Refused under the resource's firewall rules."],
    [/(?:by|to) (?:\w+ ){0,4}firewall/, 'The call was dropped by the corporate network firewall.'],
    [/virtual network/, 'Public traffic is refused; call this resource from its virtual network.'],
    [/public access is disabled/, 'Public access is disabled. Please configure private endpoint.'],
    [/ip address.{0,30}not (?:allowed|authorized)/, 'The IP address 203.0.113.7 is not authorized.'],
    [/you have been blocked/, 'You have been blocked. Cloudflare Ray ID: 0123456789abcdef'],
    [/currently not allowed/, 'OAuth authentication is currently not allowed for this organization.'],
    [/is not allowed for this organization/, 'Web search is not allowed for this organization.'],
    [/not entitled/, 'The user is not entitled to Copilot chat.'],
    [/(?:only authorized|restricted) (?:for|to) use with/, 'This credential is only authorized for use with Claude Code.'],
    [/accept the terms/, 'An org admin has to accept the terms of this model first.'],
    [/terms acceptance/, 'The model `orpheus-v1-english` requires terms acceptance.'],
    [/no available model endpoints/, 'No available model endpoints for this subscription.'],
  ]),
];

/** Refusals in words so common that an unknown model or a bad key may use them too. */
// prettier-ignore
export const softPermissionWording: readonly WordingRule[] = [
  ...phrases({ code: 'PERMISSION_DENIED' }, [
    [/do(?:es)? not have (?:\w+ ){0,4}access/, 'Project `proj_demo` does not have access to model `gpt-4o`.'],
    [/dont have access/, "You don't have access to gpt-5-pro yet."],
    [/access denied/, 'Access denied.'],
    [/access to (?:this|the) (?:model|resource)/, 'Access to this model is limited to allow-listed customers.'],
    [/permission denied/, 'Permission denied: the caller may not predict with this endpoint.'],
    [/model access/, 'To call it, request model access in the Bedrock console.'],
    [/attention required/, 'Attention Required! | Cloudflare'],
    [/just a moment/, 'Just a moment...'],
    [/checking your browser/, 'Checking your browser before accessing api.example.com.'],
    [/enable javascript and cookies/, 'Enable JavaScript and cookies to continue'],
    [/cloudflare.{0,60}(?:block|challenge)/, 'The answer is a Cloudflare challenge page.'],
    [/error code: 10(?:06|07|08|09|10|12|20)\b/, 'error code: 1020'],
    [/request (?:was )?(?:blocked|not allowed|rejected by)/, 'Request not allowed'],
    [/access forbidden/, 'Access forbidden'],
    [/\bforbidden\b/, 'Forbidden'],
    [/web application firewall/, 'Web Application Firewall: incident 4711'],
    [/waf\b/, 'AWS WAF rule 12 refused this call.'],
    [/无权/, '您无权访问glm-4-plus。'],
    [/没有权限/, '当前分组没有权限使用该接口。'],
    [/权限不足/, '权限不足，请联系管理员。'],
    [/禁止访问|被禁止/, '禁止访问该接口。'],
  ]),
];

/** The credential itself. */
// prettier-ignore
export const authWording: readonly WordingRule[] = [
  ...phrases({ code: 'AUTHENTICATION_ERROR', overrides: true }, [
    [/(?:api.?key|x-api-key|access key|api token|credential|bearer token|access token)s?(?: \S+){0,6}? (?:is|are|was|has|not|cannot|were)(?: \w+)? ?(?:invalid|incorrect|expired|revoked|not valid|not found|missing|wrong|leaked|disabled|deleted|malformed|reported as leaked|inactive|not supported by this api|set)\b/, 'Your API key was reported as leaked. Please use another API key.'],
    [/\b(?:your|the|this|auth\w{0,12}|provided|given|supplied|jwt|login) (?:\w+ )?(?:token|key) (?:is|was|has)(?: been)? (?:invalid|incorrect|expired|revoked|leaked|disabled|inactive)\b/, 'Your token has been revoked.'],
    [/(?:invalid|incorrect|wrong|missing|expired|bad|no|unknown|malformed|revoked|illegal) (?:or (?:missing|expired|invalid) )?(?:x-)?(?:api.?key|access.?key|api.?token|access token|subscription key|bearer token|auth(?:entication|orization)?(?: \w+)? ?(?:token|credentials?|header|key)?|credentials|signature (?!in)|security token|authentication|secret key)\b/, 'Incorrect API key provided: sk-...abcd. You can find your API key in the dashboard.'],
    [/(?<!proxy )authentication (?:fails|failed|failure|error|required|is required|credential)/, 'Authentication Fails (no such user)'],
    [/unauthorized/, 'Unauthorized'],
    [/unauthenticated/, 'UNAUTHENTICATED: the request carried no identity.'],
    [/not authenticated/, 'Not authenticated'],
    [/credential is unavailable|no underlying credential/, 'EnvironmentCredential is unavailable. No underlying credential could be used.'],
    [/unregistered callers/, "Method doesn't allow unregistered callers. Please use API Key."],
    [/must be a member of an organization/, 'You must be a member of an organization to use the API.'],
    [/api.?key (?:client )?(?:option|environment variable) must be set/, 'The api_key client option must be set by passing api_key or by an environment variable'],
    [/key in the authorization header/, 'Missing required key in the Authorization header'],
    [/not logged in/, 'Codex is not logged in.'],
    [/please (?:run \/login|log ?in|sign in|reauthenticate)/, 'Your session ended. Please run /login'],
    [/login (?:again|required|fail)/, 'Login required.'],
    [/didnt provide an api key/, "You didn't provide an API key. You need to provide your API key in an Authorization header."],
    [/(?:provide|pass|set|supply|specify|check|use)(?: \w+){0,2} (?:valid )?api.?key/, 'Please pass a valid API key.'],
    [/api.?key(?: \w+)? (?:is )?(?:required|missing|needed|not found|not valid|expired|invalid)/, 'API key not valid.'],
    [/security token included in the request is/, 'The security token included in the request is invalid.'],
    [/token (?:has |is |seems |appears )?(?:been |to be )?(?:expired|invalid)/, 'Token expired, fetch a new one.'],
    [/\b(?:oauth|ide|session|refresh) token\b/, 'The OAuth token could not be refreshed.'],
    [/could not (?:load|resolve|refresh|validate|find)(?: \w+){0,2} (?:credentials?|authentication|access token)/, 'Could not load credentials from any providers'],
    [/default credentials/, 'The Application Default Credentials are not available.'],
    [/invalid_grant/, 'invalid_grant: reauth related error (invalid_rapt)'],
    [/signature (?:we calculated|does not match|expired)/, 'The request signature we calculated does not match the signature you provided.'],
    [/unable to locate credentials/, 'Unable to locate credentials'],
    [/user not found/, 'User not found.'],
    [/token_not_found/, 'token_not_found_in_db: the proxy does not know this value.'],
    [/get authorization/, 'Failed to get authorization for the call.'],
    [/无效的令牌/, '无效的令牌'],
    [/令牌.{0,8}(?:无效|过期|已)/, '该令牌已过期'],
    [/密钥.{0,8}(?:无效|错误|过期)/, 'API 密钥无效，请检查。'],
    [/身份验证/, '身份验证失败。'],
    [/鉴权/, '鉴权失败，请核对应用信息。'],
    [/(?<!_)token.{0,6}(?:已过期|无效)/, '访问 Token 无效，请核对。'],
    [/认证失败/, '认证失败，请重新登录。'],
    [/未授权/, '未授权的请求。'],
  ]),
];
