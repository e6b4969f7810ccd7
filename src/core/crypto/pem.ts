/** PEM text around DER bytes. */
import { base64, fromBase64 } from '../bytes.ts'

/** PEM of DER bytes, 64 columns, with a final line break. */
export function toPem(label: string, der: Uint8Array): string {
  const lines = base64(der).match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

/** DER of every block with this label; empty when there is none. */
export function fromPem(label: string, pem: string): Uint8Array[] {
  const pattern = new RegExp(`-----BEGIN ${label}-----\\s+([A-Za-z0-9+/=\\s]*?)-----END ${label}-----`, 'g')
  return Array.from(pem.matchAll(pattern), (match) => fromBase64(match[1]!))
}
