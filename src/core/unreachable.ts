const CODES = [
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]

/**
 * Whether a request failed on its way (by the code of the error, also undici's), and may well succeed a little later.
 */
export function isUnreachable(caught: unknown): boolean {
  const code = caught instanceof Error && 'code' in caught && typeof caught.code === 'string' ? caught.code : ''
  return CODES.includes(code) || code.startsWith('UND_ERR_')
}
