// Tested by src/dialects/argo/build/argo-builder.test.ts
/** The changes that Argo CD makes to a kustomization before it builds it: those of `kustomize edit`. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'

/** `source.kustomize` of an Application; the compiler has checked the types of the fields. */
export interface KustomizeOptions {
  readonly namePrefix?: string
  readonly nameSuffix?: string
  readonly namespace?: string
  readonly images?: readonly string[]
  readonly replicas?: readonly { readonly name: string; readonly count: number | string }[]
  readonly patches?: readonly JsonObject[]
  readonly components?: readonly string[]
  readonly ignoreMissingComponents?: boolean
  readonly commonLabels?: Readonly<Record<string, string>>
  readonly forceCommonLabels?: boolean
  readonly labelWithoutSelector?: boolean
  readonly labelIncludeTemplates?: boolean
  readonly commonAnnotations?: Readonly<Record<string, string>>
  readonly forceCommonAnnotations?: boolean
}

/** The kustomization with the changes; throws RenderFailure in the words of `kustomize edit`. */
export function editKustomization(
  own: JsonObject,
  options: KustomizeOptions,
  exists: (path: string) => boolean,
): JsonObject {
  const { namePrefix, nameSuffix, namespace, images = [], replicas = [], patches = [] } = options
  const edited: JsonObject = { ...own }
  if (namePrefix) edited['namePrefix'] = namePrefix
  if (nameSuffix) edited['nameSuffix'] = nameSuffix
  if (images.length > 0) edited['images'] = editImages(mapsOf(own['images']), images)
  if (replicas.length > 0) edited['replicas'] = editReplicas(mapsOf(own['replicas']), replicas)
  addLabels(edited, options)
  const { commonAnnotations = {}, forceCommonAnnotations = false } = options
  if (Object.keys(commonAnnotations).length > 0)
    edited['commonAnnotations'] = added(
      'annotation',
      own['commonAnnotations'],
      commonAnnotations,
      forceCommonAnnotations,
    )
  if (namespace) edited['namespace'] = namespace
  if (patches.length > 0) edited['patches'] = [...listOf(own['patches']), ...patches]
  const components = componentsOf(options, exists)
  if (components.length > 0) edited['components'] = [...new Set([...listOf(own['components']), ...components])]
  return edited
}

function addLabels(edited: JsonObject, options: KustomizeOptions): void {
  const { commonLabels = {}, forceCommonLabels = false, labelWithoutSelector, labelIncludeTemplates = false } = options
  if (Object.keys(commonLabels).length === 0) return
  if (labelIncludeTemplates && !labelWithoutSelector)
    throw new RenderFailure('kustomize.labelIncludeTemplates has no meaning without kustomize.labelWithoutSelector')
  if (!labelWithoutSelector) {
    edited['commonLabels'] = added('label', edited['commonLabels'], commonLabels, forceCommonLabels)
    return
  }
  const rules = mapsOf(edited['labels'])
  const at = rules.findIndex(
    (rule) => rule['includeSelectors'] !== true && (rule['includeTemplates'] === true) === labelIncludeTemplates,
  )
  const known = rules[at] ?? (labelIncludeTemplates ? { includeTemplates: true } : {})
  const rule = { ...known, pairs: added('label', known['pairs'], commonLabels, forceCommonLabels) }
  edited['labels'] = at < 0 ? [...rules, rule] : rules.with(at, rule)
}

function added(
  kind: string,
  own: unknown,
  more: Readonly<Record<string, string>>,
  isForced: boolean,
): Record<string, unknown> {
  const known = isObject(own) ? own : {}
  const taken = Object.keys(more).find((key) => Object.hasOwn(known, key))
  if (taken !== undefined && !isForced) throw new RenderFailure(`${kind} ${taken} already in kustomization file`)
  return { ...known, ...more }
}

const BAD_IMAGE = `invalid format of image, use one of: IMAGE=NEW:TAG, IMAGE=NEW@DIGEST, IMAGE=NEW, IMAGE:TAG, IMAGE@DIGEST`

/** An image as `kustomize edit set image` reads it. */
function readImage(text: string): Record<string, string> {
  const [name = '', written, ...rest] = text.split('=')
  const fail = (): never => {
    throw new RenderFailure(`kustomize.images: ${JSON.stringify(text)}: ${BAD_IMAGE}`)
  }
  if (rest.length > 0 || name === '') return fail()
  const image = written ?? text
  const [base = '', digest] = image.split('@')
  const [, repository, tag] = /^(.*):([a-zA-Z0-9._-]*|\*)$/.exec(base) ?? []
  if (written === undefined && digest === undefined && tag === undefined) return fail()
  const found = repository ?? base
  return {
    name: written === undefined ? found : name,
    ...(written === undefined ? {} : { newName: found }),
    ...(tag === undefined ? {} : { newTag: tag }),
    ...(digest === undefined ? {} : { digest }),
  }
}

const KEPT = ['newName', 'newTag', 'digest']

/** An asterisk keeps what the kustomization says; the remaining fields of an image are replaced. */
function editImages(own: readonly JsonObject[], texts: readonly string[]): JsonObject[] {
  const images = new Map<unknown, JsonObject>(own.map((image) => [image['name'], image]))
  for (const text of texts) {
    const image = readImage(text)
    const before = images.get(image['name']) ?? {}
    const entries = Object.entries(image).map(([key, value]) =>
      KEPT.includes(key) && value === '*' ? [key, before[key]] : [key, value],
    )
    images.set(image['name'], Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as JsonObject)
  }
  return [...images.values()].sort(byName)
}

function editReplicas(own: readonly JsonObject[], replicas: NonNullable<KustomizeOptions['replicas']>): JsonObject[] {
  const made = new Map<unknown, JsonObject>(own.map((one) => [one['name'], one]))
  for (const { name, count } of replicas) {
    const number = typeof count === 'string' ? readCount(count) : count
    if (number === undefined || number < 0)
      throw new RenderFailure(`kustomize.replicas: count of ${name} must be a number, found ${JSON.stringify(count)}`)
    made.set(name, { name, count: number })
  }
  return [...made.values()].sort(byName)
}

function readCount(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number.parseInt(text, 10) : undefined
}

function byName(a: JsonObject, b: JsonObject): number {
  const [one, other] = [String(a['name']), String(b['name'])]
  return one < other ? -1 : one > other ? 1 : 0
}

function componentsOf(
  { components = [], ignoreMissingComponents }: KustomizeOptions,
  exists: (path: string) => boolean,
): readonly string[] {
  return ignoreMissingComponents ? components.filter(exists) : components
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

function mapsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isObject)
}
