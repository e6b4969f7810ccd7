/** String formats that a kube-apiserver checks in CRDs. Both servers ignore all further formats. */
import { parseDuration } from '../../core/time/duration.ts'
import { labelProblems, subdomainProblems } from '../../core/text/name-validation.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { StructuralSchema } from '../schema/structural.ts'

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const HOST_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

// Keys have no hyphens: go-openapi drops them (`date-time` is `datetime`).
const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ['datetime', isDateTime],
  ['date', isDate],
  ['duration', (text) => parseDuration(text) !== undefined],
  ['byte', (text) => text !== '' && BASE64.test(text)],
  ['password', () => true],
  ['uuid', (text) => UUID.test(text)],
  ['uuid3', (text) => UUID3.test(text)],
  ['uuid4', (text) => UUID4.test(text)],
  ['uuid5', (text) => UUID5.test(text)],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', (text) => /^([0-9a-f]{2}[:-]){5}([0-9a-f]{2})$/i.test(text)],
  ['hostname', isHostname],
  ['email', (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text)],
  ['uri', (text) => text.startsWith('/') || URL.canParse(text)],
  ['hexcolor', (text) => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)],
  ['k8sshortname', (text) => labelProblems(text).length === 0],
  ['k8slongname', (text) => subdomainProblems(text).length === 0],
])

/** The schema's format if a kube-apiserver would heed it for the schema's type. */
export function supportedFormat(schema: StructuralSchema): string | undefined {
  const { type, format } = schema
  if (format === undefined) return undefined
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : undefined
  if (type === 'number') return format === 'float' || format === 'double' ? format : undefined
  if (type === undefined || type === 'string') return CHECKS.has(format.replaceAll('-', '')) ? format : undefined
  return undefined
}

/** Whether a text has a format. */
export function hasFormat(text: string, format: string): boolean {
  return CHECKS.get(format.replaceAll('-', ''))?.(text) ?? true
}

function isDateTime(text: string): boolean {
  // Kubernetes stops at second 59 and at hour 23.
  const isTime = parseTime(text) !== undefined && /[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d/.test(text)
  return isTime && isDate(text.slice(0, 10))
}

function isDate(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTime(`${text}T00:00:00Z`) : undefined
  // The way there and back: February 30 would come back as March 2.
  return ms !== undefined && formatTime(ms).startsWith(text)
}

function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
}

function isIpv6(text: string): boolean {
  return text.includes(':') && URL.canParse(`http://[${text}]/`)
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/')
  if (more !== undefined || !/^\d{1,3}$/.test(bits)) return false
  return isIpv4(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128
}

function isHostname(text: string): boolean {
  return (
    text.length <= 255 &&
    text
      .replace(/\.$/, '')
      .split('.')
      .every((part) => HOST_LABEL.test(part))
  )
}
