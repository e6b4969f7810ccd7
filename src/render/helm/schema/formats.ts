/** `format` in schemas: what each Helm's validator takes for valid. */
import { RE2JS } from 're2js'

/** Helm 4's validator or Helm 3's. */
export type FormatRules = 'helm4' | 'helm3'

type Test = (text: string) => boolean

const test =
  (pattern: RegExp): Test =>
  (text) =>
    pattern.test(text)

const HOSTNAME =
  /^(?=.{1,253}$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"'
const LOCAL = `(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})`
const LITERAL = String.raw`\[(?:IPv6:)?[0-9A-Fa-f:.]+\]`
const EMAIL = new RegExp(`^${LOCAL}@(?:(?=.{1,255}$)[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*|${LITERAL})$`)
/** net/mail's addresses: a name may stand before, and letters of any language count. */
const WIDE_ATOM = "(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\\x00-\\x7f])+"
const MAIL = new RegExp(
  `^(?:${WIDE_ATOM}|${QUOTED})(?:\\.${WIDE_ATOM})*@(?:${WIDE_ATOM}(?:\\.${WIDE_ATOM})*|${LITERAL})$`,
  'u',
)
const NAMED_MAIL = new RegExp(`^(?:[^<>"@,:;]*|${QUOTED}\\s*)<(.*)>$`, 'u')
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const POINTER = /^(?:\/(?:[^~]|~[01])*)*$/
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~]|~[01])*)*)$/
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?!$)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/
const SEMVER =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/
const OFFSET = String.raw`(?:[zZ]|[+-](?:[01]\d|2[0-3]):[0-5]\d)`
const CLOCK = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?`

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!match) return false
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1]!
}

/** A leap second is valid only at the end of a day in UTC. */
function isTime(text: string): boolean {
  const match = new RegExp(`^(${CLOCK})(${OFFSET})$`).exec(text)
  if (!match) return false
  const [hours, minutes, seconds] = match[1]!.split(':').map(Number) as [number, number, number]
  if (seconds < 60) return true
  const sign = match[2]!.startsWith('-') ? 1 : -1
  const [offsetHours = 0, offsetMinutes = 0] = /^[zZ]$/.test(match[2]!) ? [] : match[2]!.slice(1).split(':').map(Number)
  const utc = (hours * 60 + minutes + sign * (offsetHours * 60 + offsetMinutes) + 1440) % 1440
  return utc === 1439
}

function isDateTime(text: string): boolean {
  return /^.{10}[tT]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

/** Go's layouts know no leap second and no small letters. */
function isGoTime(text: string): boolean {
  return new RegExp(`^(?:[01]?\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)?$`).test(text)
}

function isGoDateTime(text: string): boolean {
  if (isGoTime(text) || isDate(text)) return true
  return text[10] === 'T' && isDate(text.slice(0, 10)) && isGoTime(text.slice(11)) && /(?:Z|[+-]\d\d:\d\d)$/.test(text)
}

function isIpv6(text: string): boolean {
  const parts = text.split('::')
  if (!text.includes(':') || parts.length > 2) return false
  const groups = parts.flatMap((part) => (part === '' ? [] : part.split(':')))
  const last = groups.at(-1) ?? ''
  const hasIpv4 = last.includes('.')
  if (hasIpv4 && !IPV4.test(last)) return false
  const plain = hasIpv4 ? groups.slice(0, -1) : groups
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false
  const count = plain.length + (hasIpv4 ? 2 : 0)
  return parts.length === 2 ? count < 8 : count === 8
}

/** What Go's url.Parse takes; undefined when it does not. */
function parseUrl(text: string): { readonly scheme: string } | undefined {
  if (/[\x00-\x1f\x7f]/.test(text)) return undefined
  const [withoutFragment = ''] = text.split('#')
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(withoutFragment)?.[1] ?? ''
  const rest = scheme === '' ? withoutFragment : withoutFragment.slice(scheme.length + 1)
  const path = rest.split('?')[0]!
  if (scheme === '' && path.split('/')[0]!.includes(':')) return undefined
  if (scheme !== '' && !rest.startsWith('/')) return { scheme }
  const host = path.startsWith('//') ? path.slice(2).split('/')[0]! : ''
  if (/[ "<>\\^`{|}]/.test(host) || !/^(?:.*@)?(?:\[[^\]]*\]|[^:]*)(?::\d*)?$/.test(host)) return undefined
  return /%(?![0-9A-Fa-f]{2})/.test(path) ? undefined : { scheme }
}

const isReference: Test = (text) => parseUrl(text) !== undefined && !text.includes('\\')
const isUri: Test = (text) => isReference(text) && parseUrl(text)!.scheme !== ''

function isTemplate(text: string): boolean {
  return parseUrl(text) !== undefined && text.split('/').every((part) => /^(?:[^{}]|\{[^{}]*\})*$/.test(part))
}

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text)
    return true
  } catch {
    return false
  }
}

function isMail(text: string): boolean {
  return MAIL.test(text.trim()) || MAIL.test(NAMED_MAIL.exec(text.trim())?.[1] ?? '')
}

/** A dot at the end is the root of all names. */
const isHostname: Test = (text) => HOSTNAME.test(text.replace(/\.$/, ''))

const BOTH: Readonly<Record<string, Test>> = {
  ipv6: isIpv6,
  date: isDate,
  regex: isPattern,
  uuid: test(UUID),
  'json-pointer': test(POINTER),
  'relative-json-pointer': test(RELATIVE_POINTER),
  uri: isUri,
  iri: isUri,
  'uri-reference': isReference,
  'iri-reference': isReference,
}

const FORMATS: Readonly<Record<FormatRules, Readonly<Record<string, Test>>>> = {
  helm4: {
    ...BOTH,
    hostname: isHostname,
    email: test(EMAIL),
    ipv4: test(IPV4),
    time: isTime,
    'date-time': isDateTime,
    duration: test(DURATION),
    semver: test(SEMVER),
    'uri-template': isTemplate,
    period: (text) => {
      const parts = text.split('/')
      if (parts.length !== 2) return false
      const [from, to] = parts as [string, string]
      if (isDateTime(from)) return isDateTime(to) || DURATION.test(to)
      return DURATION.test(from) && isDateTime(to)
    },
  },
  helm3: {
    ...BOTH,
    hostname: test(HOSTNAME),
    email: isMail,
    'idn-email': isMail,
    // net.ParseIP reads both kinds; an address with a dot is IPv4.
    ipv4: (text) => text.includes('.') && (IPV4.test(text) || isIpv6(text)),
    time: isGoTime,
    'date-time': isGoDateTime,
    'uri-template': (text) => isTemplate(text) && !text.includes('\\'),
  },
}

/** Whether a text has a format; formats that the validator does not know are always met. */
export function hasFormat(format: string, text: string, rules: FormatRules): boolean {
  const known = FORMATS[rules]
  return !Object.hasOwn(known, format) || known[format]!(text)
}
