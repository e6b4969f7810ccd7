/** Overriders of images, commands, arguments, labels and annotations, as operations of a patch. */
import { isObject } from '../../../core/json.ts'
import { formatImage, ImageReferenceError, parseImage, withVersion } from './image-reference.ts'
import type { ImageReference } from './image-reference.ts'
import { OverrideError } from './patch-document.ts'
import type { OverrideOperation } from './patch-document.ts'

type PlainObject = Readonly<Record<string, unknown>>

/** An entry of `imageOverrider`. */
export interface ImageOverrider {
  readonly predicate?: { readonly path: string }
  readonly component: string
  readonly operator: string
  readonly value?: string
}

/** An entry of `commandOverrider` or `argsOverrider`. */
export interface CommandOverrider {
  readonly containerName: string
  readonly operator: string
  readonly value?: readonly string[]
}

/** An entry of `labelsOverrider` or `annotationsOverrider`. */
export interface LabelOverrider {
  readonly operator: string
  readonly value?: Readonly<Record<string, string>>
}

/** Which containers overriders change. */
export interface Coverage {
  /** Init containers and the containers of CronJobs as well. Defaults to false, as in Karmada. */
  readonly coversAll?: boolean
}

/** Where the containers of a kind are. */
const CONTAINERS: ReadonlyMap<unknown, readonly string[]> = new Map<unknown, readonly string[]>([
  ['Pod', ['spec', 'containers']] as const,
  ...['ReplicaSet', 'Deployment', 'DaemonSet', 'StatefulSet', 'Job'].map(
    (kind) => [kind, ['spec', 'template', 'spec', 'containers']] as const,
  ),
])

/** The same with init containers and with CronJobs, which Karmada leaves out. */
const ALL_CONTAINERS: ReadonlyMap<unknown, readonly (readonly string[])[]> = new Map(
  [...CONTAINERS, ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec', 'containers']] as const].map(
    ([kind, path]) => [kind, [path, [...path.slice(0, -1), 'initContainers']]],
  ),
)

/** Changes the image at the path of the predicate; without a predicate the image of each container. */
export function imageOperations(
  object: PlainObject,
  overrider: ImageOverrider,
  { coversAll = false }: Coverage = {},
): readonly OverrideOperation[] {
  const { predicate } = overrider
  if (predicate) {
    const image = imageAt(object, predicate.path)
    if (!predicate.path.startsWith('/')) throw new OverrideError(`predicate.path ${predicate.path} must begin with "/"`)
    return [{ op: 'replace', path: predicate.path, value: overrideImage(image, overrider) }]
  }
  return containersOf(object, coversAll).map(({ path, container }) => {
    const image = container['image'] ?? ''
    if (typeof image !== 'string') throw new OverrideError(`${path}/image is not a text`)
    return { op: 'replace', path: `${path}/image`, value: overrideImage(image, overrider) }
  })
}

function overrideImage(text: string, { component, operator, value = '' }: ImageOverrider): string {
  const image = parsed(text)
  const changed = (part: string): string => (operator === 'add' ? part + value : operator === 'replace' ? value : part)
  switch (component) {
    case 'Registry':
      return formatImage({ ...image, registry: operator === 'remove' ? '' : changed(image.registry) })
    case 'Repository':
      return formatImage({ ...image, repository: operator === 'remove' ? '' : changed(image.repository) })
    case 'Tag': {
      if (operator === 'remove') return formatImage({ ...image, tag: '', digest: '' })
      const version = image.tag === '' ? image.digest : image.tag
      const isKnown = operator === 'add' || operator === 'replace'
      return formatImage(isKnown ? withVersion(image, changed(version)) : image)
    }
    default:
      throw new OverrideError(`unsupported image component "${component}"`)
  }
}

function parsed(text: string): ImageReference {
  try {
    return parseImage(text)
  } catch (error) {
    if (!(error instanceof ImageReferenceError)) throw error
    throw new OverrideError(`image "${text}": ${error.message}`, { cause: error })
  }
}

/** The image at a path of names and indices. */
function imageAt(object: PlainObject, path: string): string {
  let at: unknown = object
  for (const key of path.replace(/^\/+|\/+$/g, '').split('/')) {
    at = Array.isArray(at) ? memberOf(at, key, path) : isObject(at) ? at[key] : undefined
  }
  if (typeof at !== 'string') throw new OverrideError(`predicate.path ${path}: the field is missing or is not a string`)
  return at
}

function memberOf(list: readonly unknown[], key: string, path: string): unknown {
  if (!/^\d{1,9}$/.test(key)) throw new OverrideError(`predicate.path ${path}: "${key}" is not an index`)
  return list[Number(key)]
}

interface FoundContainer {
  readonly path: string
  readonly container: PlainObject
}

function containersOf(object: PlainObject, coversAll: boolean): readonly FoundContainer[] {
  if (coversAll) return (ALL_CONTAINERS.get(object['kind']) ?? []).flatMap((path) => containersAt(object, path))
  const path = CONTAINERS.get(object['kind'])
  return path ? containersAt(object, path) : []
}

function containersAt(object: PlainObject, path: readonly string[]): readonly FoundContainer[] {
  let at: unknown = object
  for (const key of path) {
    if (at === undefined) return []
    if (!isObject(at)) throw new OverrideError(`/${path.join('/')}: ${key} has no object around it`)
    at = at[key]
  }
  if (at === undefined || at === null) return []
  if (!Array.isArray(at)) throw new OverrideError(`/${path.join('/')} is not a list`)
  return at.map((container: unknown, i) => {
    if (!isObject(container)) throw new OverrideError(`/${path.join('/')}/${i} is not an object`)
    return { path: `/${path.join('/')}/${i}`, container }
  })
}

/** Changes the command or the arguments of the containers with the name. */
export function commandOperations(
  object: PlainObject,
  field: 'command' | 'args',
  { containerName, operator, value = [] }: CommandOverrider,
  { coversAll = false }: Coverage = {},
): readonly OverrideOperation[] {
  return containersOf(object, coversAll)
    .filter(({ container }) => container['name'] === containerName)
    .map(({ path, container }) => {
      const present = container[field] ?? undefined
      if (present !== undefined && !Array.isArray(present)) throw new OverrideError(`${path}/${field} is not a list`)
      const words = (present ?? []).map(goWord)
      return {
        op: present === undefined ? 'add' : 'replace',
        path: `${path}/${field}`,
        value: overrideWords(words, operator, value),
      }
    })
}

function overrideWords(words: readonly string[], operator: string, value: readonly string[]): readonly string[] {
  if (operator === 'add') return [...words, ...value]
  return operator === 'remove' ? words.filter((word) => !value.includes(word)) : words
}

/** A word of a command; Karmada prints numbers and Booleans in this form. */
function goWord(word: unknown): string {
  if (typeof word === 'string') return word
  if (typeof word === 'boolean') return `%!s(bool=${word})`
  return Number.isInteger(word) ? `%!s(int64=${String(word)})` : `%!s(float64=${String(word)})`
}

/**
 * Changes labels or annotations. To remove or replace a key that is absent does nothing; labels that are no texts are
 * dropped when a label is added.
 */
export function labelOperations(
  object: PlainObject,
  field: 'labels' | 'annotations',
  { operator, value = {} }: LabelOverrider,
): readonly OverrideOperation[] {
  const entries = Object.entries(value)
  const present = textsIn((object['metadata'] as PlainObject | undefined)?.[field])
  const path = (key: string): string => `/metadata/${field}/${key.replaceAll('/', '~1')}`
  if (operator === 'remove' || operator === 'replace') {
    return entries
      .filter(([key]) => present !== undefined && Object.hasOwn(present, key))
      .map(([key, text]) => ({ op: operator, path: path(key), value: text }))
  }
  const operations = entries.map(([key, text]) => ({ op: operator, path: path(key), value: text }))
  if (operator !== 'add' || present || entries.length === 0) return operations
  return [{ op: 'add', path: `/metadata/${field}`, value: {} }, ...operations]
}

function textsIn(value: unknown): PlainObject | undefined {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string') ? value : undefined
}
