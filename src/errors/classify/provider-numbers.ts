// Table: providers' own numbers.

import type { FailureCode } from '../codes.ts';

/** Numbers that mean something at one provider only. */
export const numbersByProvider: Readonly<Record<string, Partial<Record<FailureCode, readonly string[]>>>> = {
  zhipu: {
    AUTHENTICATION_ERROR: ['1000', '1001', '1002', '1003', '1004'],
    PERMISSION_DENIED: ['1110', '1111', '1112', '1220', '1121', '1311'],
    QUOTA_EXCEEDED: ['1113', '1304', '1308', '1309', '1310', '1316', '1317'],
    RATE_LIMITED: ['1302', '1303', '1313'],
    OVERLOADED: ['1305', '1312'],
    CONTENT_FILTERED: ['1301'],
    MODEL_NOT_FOUND: ['1211', '1221', '1222'],
    CONTEXT_LENGTH_EXCEEDED: ['1261'],
    INVALID_REQUEST: ['1200', '1210', '1212', '1213', '1214', '1215', '1231'],
    SERVER_ERROR: ['1230', '1234'],
  },
  minimax: {
    RATE_LIMITED: ['1002', '1039', '1041', '2045'],
    AUTHENTICATION_ERROR: ['1004', '2049'],
    QUOTA_EXCEEDED: ['1008', '2056', '1028'],
    CONTENT_FILTERED: ['1026', '1027'],
    SERVER_ERROR: ['1000', '1013', '1024', '1033'],
    TIMEOUT: ['1001'],
    INVALID_REQUEST: ['1042', '1043', '1044', '2013', '2042'],
    PERMISSION_DENIED: ['2061'],
  },
  siliconflow: {
    QUOTA_EXCEEDED: ['30001', '30011'],
    PERMISSION_DENIED: ['30003', '20028'],
    MODEL_NOT_FOUND: ['20012'],
    INVALID_REQUEST: ['20015', '20041'],
    OVERLOADED: ['50505', '50603'],
    SERVER_ERROR: ['50501', '50502'],
    CONTEXT_LENGTH_EXCEEDED: ['20052'],
  },
  mistral: {
    OVERLOADED: ['3505'],
    RATE_LIMITED: ['1300'],
    MODEL_NOT_FOUND: ['1500'],
  },
  cloudflare: {
    TIMEOUT: ['3007', '3046'],
    RATE_LIMITED: ['3021'],
    PERMISSION_DENIED: ['3023', '3041', '5016', '5018'],
    QUOTA_EXCEEDED: ['3036', '4006', '2021'],
    OVERLOADED: ['3040'],
    REQUEST_TOO_LARGE: ['3006'],
    MODEL_NOT_FOUND: ['3042', '5007'],
  },
};
