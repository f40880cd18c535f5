// Table: codes that one provider or gateway documents, in lower case; dots part them as the provider does.

import type { FailureCode } from '../codes.ts';

/** Codes that say what happened, also behind a gateway. A part behind the last dot counts before what stands before it. */
// prettier-ignore
export const documentedIdsByCode: Partial<Record<FailureCode, readonly string[]>> = {
  QUOTA_EXCEEDED: [
    'account_overdue', 'service_overdue', 'file_quota_exceeded', 'invalid_subscription', 'service_stop_arrears', 'in_arrears', 'low_balance',
    'resource_pack_exhausted', 'free_resource_pack_exhausted', 'set_pay_mode_exceed', 'charge_resource_exhaust', 'resource_unavailable.stop_using',
    'failed_operation.service_stop', 'token_quota_reached', 'instance_quota_exceeded', 'blocked_api_access', 'entitlement_required',
    'entitlement_inactive', 'entitlement_daily_limit_exceeded', 'entitlement_total_limit_exceeded', 'insufficient_credit', 
    'credit_limit_exceeded', 'out_of_credits', 'no_credits', 'spend_limit_exceeded', 'spending_limit_reached', 'out_of_quota', 'account_problem',
    'budget_exceeded_error', 'coding_plan_hour_quota_exceeded', 'coding_plan_week_quota_exceeded', 'coding_plan_month_quota_exceeded',
  ],
  RATE_LIMITED: [
    'request_limit_exceeded', 'bandwidth_limit_exceeded', 'limit_exceeded_exception', 'provisioned_throughput_exceeded_exception',
    'prior_request_not_complete', 'ec2_throttled_exception', 'throttled_exception', 'request_throttled', 'request_throttled_exception', 'transaction_in_progress_exception',
    'engine_server_limit_exceeded', 'rpm_rate_limit_exceeded', 'tpm_rate_limit_exceeded', 'user_rate_limit_exceeded',
    'limit_burst_rate', 'burst_rate_limit', 'inflight_batchsize_exceeded', 'dynamic_token_limited', 'dynamic_request_limited',
    'token_concurrency_limit_reached', 'rate_limit_reached_requests', 'rate_limit_reached_tokens', 'consumption_limit_reached',
    'too_many_tasks', 'concurrent_request_limit_exceeded', 'throttled', 'quota_limit_exceeded_per_minute',
  ],
  OVERLOADED: [
    'server_overload', 'system_overload', 'insufficient_system_resource', 'over_capacity', 'model_at_capacity', 'model_busy', 'queue_full',
    'engine_is_overloaded', 'provider_at_capacity', 'server_busy', 'deployment_overloaded',
  ],
  AUTHENTICATION_ERROR: [
    'expired_key', 'invalid_key', 'request_expired', 'auth_failure', 'invalid_iam_token', 'secret_id_not_found', 'invalid_access_token',
    'authentication_token_expired', 'authentication_token_not_valid', 'not_authenticated', 'credentials_missing', 'signature_expire',
    'unauthenticated_request', 'channel:invalid_key', 'invalid_authentication_token', 'expired_authentication_token', 'user_authentication_failed', 'overloaded_credentials',
  ],
  PERMISSION_DENIED: [
    'service_not_activated', 'service_not_open', 'partner_account_un_support', 'user_un_auth_error', 'resource_unavailable.not_exist',
    'unauthorized_operation', 'not_authorized', 'not_authorized_or_not_found', 'authorization_failed', 'authorization_rejected', 'ip_in_blacklist',
    'ip_not_in_whitelist', 'unsupported_region', 'opt_in_required', 'subscription_required_exception', 'user_blocked_by_admin', 'feature_disabled',
    'access_terminated', 'model_permission_blocked_org', 'model_permission_blocked_project', 'kms_disabled_exception',
    'kms_access_denied_exception', 'user_not_authorized', 'extension_blocked', 'ip_not_authorized',
  ],
  MODEL_NOT_FOUND: [
    'invalid_parameter_value.model', 'no_such_model', 'unavailable_model', 'service_model_deprecated', 'model_offline',
    'service_model_deprecating', 'model_retired', 'deployment_not_found', 'action_offline', 'closed_endpoint', 'repository_not_found',
  ],
  MODEL_LOADING: ['deployment_not_ready', 'model_is_loading', 'model_loading_error', 'model_warming_up'],
  CONTEXT_LENGTH_EXCEEDED: [
    'characters_too_long', 'tokens_too_long', 'outof_context_error', 'out_of_context_error', 'input_tokens_limit_exceeded', 'error_limit',
    'context_overflow', 'context_window_exceeded_error', 'model_context_window_exceeded', 'max_prompt_tokens_exceeded', 'context_length_exceeded_error',
  ],
  REQUEST_TOO_LARGE: [
    'request_size_limit_exceeded', 'oversize_image', 'oversized_image', 'request_entity_too_large_exception', 'bad_request.too_large',
    'image_file_too_large', 'message_too_large',
  ],
  CONTENT_FILTERED: [
    'censorship_blocked', 'unsafe_request', 'system_unsafe', 'user_setting_unsafe', 'image_illegal_detected', 'text_illegal_detected',
    'generate_image_failed', 'input_text_risk_detection', 'output_text_risk_detection', 'input_image_risk_detection', 'output_image_risk_detection',
    'content_security_detection_error', 'faq_rule_blocked', 'custom_role_blocked', 'ip_infringement_suspect', 'content_safety_violation',
    'prompt_shield', 'jailbreak', 'jailbreak_detected', 'model_armor', 'image_recitation', 'error_toxic', 'input_guardrail', 'output_guardrail',
    'input_guardrail_triggered', 'output_guardrail_triggered', 'bio_policy', 'violation_fee.grok.csam', 'hooks_failed', 'blocked_prompt_exception',
    'blocked_pii_entity_error', 'guardrail_raised_exception', 'rejected_request_error', 'content_blocked',
    'content_filter_finish_reason_error', 'stop_candidate_exception',
  ],
  TIMEOUT: [
    'engine_request_timeout', 'vector_store_timeout', 'response_time_exceeded', 'request_timeout_exception', 'task_timed_out', 'external_server_timeout',
  ],
  INVALID_REQUEST: [
    'image_download_error', 'download_error', 'image_decode_failed', 'request_params_invalid', 'unknown_operation_exception', 'invalid_api_type',
    'malformed_http_request_exception', 'api_version_not_found', 'param_override_invalid', 'header_override_invalid', 'convert_request_failed',
    'bad_request_body', 'malformed_json', 'invalid_messages', 'no_such_version', 'no_associated_service_instance_error', 'property_unsupported',
    'model_no_support_for_function', 'json_type_error', 'json_validation_error', 'missing_thought_signature', 'image_fetch_error',
    'invalid_request_message_order', 'voice_clone_voice_id_duplicate',
  ],
  SERVER_ERROR: [
    'console_server_error', 'engine_server_error', 'internal_failure', 'internal_stream_failure', 'dependency_failed_exception',
    'internal_dependency_exception', 'bad_gateway_exception', 'downstream_request_failed', 'model_stream_error', 'do_request_failed',
    'response_size_limit_exceeded', 'retrival_failed', 'retrieval_failed',
  ],
  INVALID_RESPONSE: ['output_parse_failed', 'malformed_model_output', 'malformed_response'],
  STREAM_INTERRUPTED: ['mid_stream_fallback_error', 'client_disconnect'],
  TOOL_CALL_INVALID: ['malformed_tool_use', 'tool_call_validation_failed'],
};
