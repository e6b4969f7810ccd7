/** References of container images: registry, repository, tag and digest. */

/** The parts of a reference; an absent part is the empty text. */
export interface ImageReference {
  readonly registry: string
  readonly repository: string
  readonly tag: string
  readonly digest: string
}

/** Thrown for a text that is not a reference. */
export class ImageReferenceError extends Error {}

const MAX_LENGTH = 4096
const MAX_NAME = 255
const TAG = /^\w[\w.-]{0,127}$/
const ALGORITHM_PART = /^[A-Za-z][A-Za-z0-9]*$/
const HEX = /^[0-9a-fA-F]{32,}$/
const PATH_WORD = /^[a-z0-9]+$/
const SEPARATOR = /__|[._]|-+/
const HOST_LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/
const IPV6 = /^\[[a-fA-F0-9:]+\]$/
/** Digits of the digests that are known. */
const DIGEST_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
])

/** Reads a reference such as `registry.example.com/team/app:v1`. */
export function parseImage(image: string): ImageReference {
  if (image === '') throw new ImageReferenceError('repository name must have at least one component')
  if (image.length > MAX_LENGTH) throw new ImageReferenceError(`reference is longer than ${MAX_LENGTH} characters`)
  const at = image.indexOf('@')
  const digest = at < 0 ? '' : image.slice(at + 1)
  const tagged = at < 0 ? image : image.slice(0, at)
  const colon = tagged.lastIndexOf(':')
  const hasTag = colon > tagged.lastIndexOf('/')
  const tag = hasTag ? tagged.slice(colon + 1) : ''
  const name = hasTag ? tagged.slice(0, colon) : tagged
  if ((at >= 0 && !isDigest(digest)) || (hasTag && !TAG.test(tag)) || !isName(name)) {
    throw new ImageReferenceError('invalid reference format')
  }
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(0, slash))
  const hasRegistry = slash >= 0 && (/[.:]/.test(first) || first === 'localhost')
  return {
    registry: hasRegistry ? first : '',
    repository: hasRegistry ? name.slice(slash + 1) : name,
    tag,
    // A reference with both keeps its tag alone.
    digest: tag === '' ? digest : '',
  }
}

/** The text of a reference. */
export function formatImage({ registry, repository, tag, digest }: ImageReference): string {
  const name = registry === '' ? repository : `${registry}/${repository}`
  if (tag !== '') return `${name}:${tag}`
  return digest === '' ? name : `${name}@${digest}`
}

/** The reference with another tag or digest; a text that is neither leaves it as it is. */
export function withVersion(image: ImageReference, version: string): ImageReference {
  if (TAG.test(version)) return { ...image, tag: version, digest: '' }
  if (version.length <= MAX_LENGTH && hasDigestForm(version)) return { ...image, tag: '', digest: version }
  return image
}

/** An algorithm such as `sha256`, and at least 32 hexadecimal digits. */
function hasDigestForm(text: string): boolean {
  const colon = text.indexOf(':')
  return (
    colon > 0 &&
    text
      .slice(0, colon)
      .split(/[-_+.]/)
      .every((part) => ALGORITHM_PART.test(part)) &&
    HEX.test(text.slice(colon + 1))
  )
}

function isDigest(digest: string): boolean {
  if (!hasDigestForm(digest)) return false
  const [algorithm = '', hex = ''] = digest.split(':')
  return hex.length === DIGEST_LENGTHS.get(algorithm) && hex === hex.toLowerCase()
}

function isName(name: string): boolean {
  const parts = name.split('/')
  const isPath = (components: readonly string[]): boolean =>
    components.every((component) => component.split(SEPARATOR).every((word) => PATH_WORD.test(word)))
  const rest = parts.slice(1)
  const path = isPath(parts) ? parts : rest
  if (path.join('/').length > MAX_NAME) return false
  return isPath(parts) || (rest.length > 0 && isHost(parts[0]!) && isPath(rest))
}

/** A host name or an IPv6 address in brackets, with or without a port. */
function isHost(text: string): boolean {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? []
  if (port !== undefined && !/^\d+$/.test(port)) return false
  return IPV6.test(host) || host.split('.').every((label) => HOST_LABEL.test(label))
}
