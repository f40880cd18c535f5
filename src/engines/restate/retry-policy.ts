/**
 * How soon Restate tries again where a worker cannot be reached. Of itself it pauses what has failed 70 times, which is a few
 * minutes, and nothing would wake it: a run outlives every outage.
 */
export const retryPolicy = {
  initialInterval: 50,
  exponentiationFactor: 2,
  maxInterval: 5000,
  maxAttempts: 2_000_000_000,
};
