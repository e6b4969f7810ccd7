/**
 * The builder of Kustomizations: what kustomize-controller would apply to a cluster, made by the renderer of Bundles.
 * Objects of Flux itself are left out: they are instructions for Flux, and the cluster has none.
 */
import { base64, fromBase64, fromUtf8, utf8 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { isSecret, redactTexts } from '../../../kinds/redact-secret.ts'
import { MessagesWanted } from '../../../render/bundle/builder.ts'
import type { Builder, BuilderRequest, BuilderResult } from '../../../render/bundle/builder.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'
import { cleanPath, createFileTree } from '../../../render/kustomize/loader.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'
import { encryptedText } from '../../../render/sops/decrypt-object.ts'
import { createKeyRing, pgpKeysOf, pgpMessagesIn } from '../../../render/sops/key-ring.ts'
import type { KeyRing } from '../../../render/sops/key-ring.ts'
import { SopsError } from '../../../render/sops/sops-error.ts'
import { bucketFilter, sourceFilter } from '../sources/ignore-files.ts'
import { withFluxAnnotations } from './apply-annotations.ts'
import { buildFluxKustomization } from './build-kustomization.ts'
import type { FluxBuildInput } from './build-kustomization.ts'
import { plain, setOwner } from './command-output.ts'
import { encryptedFiles } from './decryption.ts'
import { FluxBuildError } from './flux-build-error.ts'
import type { FluxKustomization } from './flux-kustomization.ts'
import { isOfFlux } from './flux-objects.ts'

/** What a Kustomization asks of the builder; the options of `spec.builder`. */
export interface FluxBuilderOptions {
  readonly name: string
  readonly namespace: string
  /** The fields of the Kustomization that a build reads. */
  readonly spec: JsonObject
  /** `spec.ignore` of the source. */
  readonly ignore?: string
  /** Whether the source is a Bucket, which has no default patterns. */
  readonly isBucket?: boolean
  /** Files of other sources: `at` is where the renderer put them, `from` and `to` are directories. */
  readonly include?: readonly { readonly at: string; readonly from: string; readonly to: string }[]
  /** The data of the ConfigMaps of `substituteFrom`, by name. */
  readonly configMaps?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The inputs with the Secrets of `substituteFrom`, by the name of the Secret. */
  readonly secrets?: Readonly<Record<string, string>>
  /** `flux` makes the objects of Flux that a build yields, instead of the objects for clusters. */
  readonly part?: 'flux'
}

/** The directory of the artifact in the tree of a build. */
const ROOT = '/artifact'

type Files = ReadonlyMap<string, Uint8Array>

/** Where the files of a build are. */
interface BuildPlace extends Pick<FluxBuildInput, 'ignorePaths' | 'note'> {
  readonly tree: FileTree
  readonly directory: string
}

/** Builds a Kustomization for a cluster. */
export const buildForCluster: Builder = (request) => {
  const options = readOptions(request.options)
  const tree = treeOf(request.files, options)
  const path = cleanPath(`/${typeof options.spec['path'] === 'string' ? options.spec['path'] : ''}`)
  const directory = cleanPath(`${ROOT}${path}`)
  if (tree.stat(directory)?.kind !== 'directory') {
    throw new RenderFailure(`kustomization path not found: stat ${path.slice(1)}: no such file or directory`)
  }
  return buildAt(request, options, { tree, directory })
}

/**
 * A builder that builds a local directory instead of `spec.path` of the artifact. It has no keys: Secrets that SOPS
 * encrypted keep their encrypted values, and what else is encrypted is refused.
 */
export function localBuilder(place: BuildPlace): Builder {
  return (request) => {
    const options = readOptions(request.options)
    return withoutKeys(buildAt(request, options, place))
  }
}

/** Builds from an artifact like `buildForCluster`, without keys. */
export const buildWithoutKeys: Builder = (request) => {
  return withoutKeys(buildForCluster(request))
}

/** A build without keys, as the hub has it. What agents decrypt is not compared with what the hub has. */
function withoutKeys(built: BuilderResult): BuilderResult {
  return built.encrypted ? built : { ...built, objects: built.objects.map(withoutSops) }
}

/** An object as the hub has it after decryption, with its encrypted values. */
function withoutSops(object: UnknownObject): UnknownObject {
  const { sops, ...rest } = object
  const isEncrypted = isObject(sops)
  if (!isSecret(object)) {
    if (!isEncrypted) return object
    throw new RenderFailure(
      `${object.kind} ${object.metadata.name} is encrypted, and only values of Secrets are sealed`,
    )
  }
  if (isEncrypted) return rest
  const texts = Object.values(isObject(object['data']) ? object['data'] : {})
  if (texts.some((text) => typeof text === 'string' && (decodeText(text) ?? '').includes('ENC[AES256_GCM,'))) {
    throw new RenderFailure(
      `Secret ${object.metadata.name} is made from a file that SOPS encrypted, and only the hub has the keys`,
    )
  }
  return object
}

function buildAt(
  request: BuilderRequest,
  options: FluxBuilderOptions,
  { tree, directory, ...place }: BuildPlace,
): BuilderResult {
  const { name, namespace, spec } = options
  const kustomization: FluxKustomization = { name, namespace, spec }
  const { sops, openedMessages } = request
  const keys = new Map(Object.entries(sops?.keys ?? {}))
  const ring = sops && createKeyRing(keys, openedMessages)
  const build = (one: FluxKustomization, mask?: string): UnknownObject[] => {
    try {
      const built = withWantedMessages(request, ring, () =>
        buildFluxKustomization({
          ...place,
          kustomization: one,
          directory,
          tree,
          strict: true,
          decode: decodeText,
          read: (kind, object) => objectOf(kind, object, request, options),
          fact: (variable) => factOf(variable, request),
          ...(request.encrypted && { leavesEncrypted: true }),
          ...(ring && { decryption: { ring, checkMac: sops.checkMac, secretsOnly: true, mask } }),
        }),
      )
      return built.map((object) => {
        setOwner(object, one)
        return plain(object) as UnknownObject
      })
    } catch (caught) {
      if (caught instanceof FluxBuildError)
        throw new RenderFailure(hidden(caught.message, ring), ring ? {} : { cause: caught })
      throw caught
    }
  }
  const all = build(kustomization)
  const leftOut = all.filter(isOfFlux)
  if (options.part === 'flux') return { objects: leftOut, written: [], notes: [] }
  const objects = all.filter((object) => !isOfFlux(object)).map(withFluxAnnotations)
  const encrypted = request.encrypted && leftEncrypted(objects, { tree, ...request.encrypted })
  // Values of variables may be secret; what is written in the repository is judged before they are replaced.
  const isReplaced = (isObject(spec['postBuild']) || ring !== undefined) && objects.some(isSecret)
  const { postBuild: _postBuild, ...unreplaced } = spec
  const written = isReplaced ? build({ ...kustomization, spec: unreplaced }, ENCRYPTED) : objects
  return {
    objects,
    written: encrypted ? written.map(withMaskedFiles) : written,
    notes: leftOut.length === 0 ? [] : [leftOutNote(leftOut)],
    ...compact({ encrypted }),
  }
}

/** The files of what stays encrypted for the agent. */
function leftEncrypted(
  objects: readonly UnknownObject[],
  place: Parameters<typeof encryptedFiles>[1],
): ReadonlyMap<string, Uint8Array> | undefined {
  try {
    return encryptedFiles(objects, place)
  } catch (caught) {
    if (caught instanceof FluxBuildError || caught instanceof SopsError) {
      throw new RenderFailure(caught.message, { cause: caught })
    }
    throw caught
  }
}

/** A Secret with encrypted files in its data, for the rule about readable values. */
function withMaskedFiles(object: UnknownObject): UnknownObject {
  const { data } = object
  if (!isSecret(object) || !isObject(data)) return object
  const masked = Object.entries(data).map(([key, value]) => [
    key,
    encryptedText(value) === undefined ? value : ENCRYPTED,
  ])
  return { ...object, data: Object.fromEntries(masked) }
}

/** A value of an input, for the rule about readable values of Secrets. */
const ENCRYPTED = '${sops}'

/** Builds, and asks for the messages of OpenPGP that the build met first. */
function withWantedMessages<T>({ files, sops }: BuilderRequest, ring: KeyRing | undefined, build: () => T): T {
  const ask = (): void => {
    if (!ring || ring.wanted.size === 0) return
    const all = [...files.values()].flatMap(pgpMessagesIn).filter((message) => !ring.opened.has(message))
    throw new MessagesWanted([...new Set([...ring.wanted, ...all])], pgpKeysOf(new Map(Object.entries(sops!.keys))))
  }
  try {
    const built = build()
    ask()
    return built
  } catch (caught) {
    ask()
    throw caught
  }
}

/** A message without decrypted texts: a build may repeat what it cannot read. */
function hidden(message: string, ring: KeyRing | undefined): string {
  const texts = ring?.revealed ?? []
  return texts.length === 0 ? message : redactTexts(message, [...texts, ...texts.map((text) => base64(utf8(text)))])
}

/** The options, which every author of a Bundle can write. */
function readOptions(options: JsonObject): FluxBuilderOptions {
  const { name, namespace, spec, ignore = '', include = [], configMaps = {}, secrets = {} } = options
  const { part = 'flux', isBucket = false } = options
  const isTexts = (value: unknown): boolean =>
    isObject(value) && Object.values(value).every((item) => typeof item === 'string')
  const isRight =
    typeof name === 'string' &&
    typeof namespace === 'string' &&
    isObject(spec) &&
    typeof ignore === 'string' &&
    typeof isBucket === 'boolean' &&
    part === 'flux' &&
    Array.isArray(include) &&
    include.every((one: unknown) => isTexts(one) && isObject(one) && 'at' in one && 'from' in one && 'to' in one) &&
    isObject(configMaps) &&
    Object.values(configMaps).every(isTexts) &&
    isTexts(secrets)
  if (isRight) return options as unknown as FluxBuilderOptions
  throw new RenderFailure('spec.builder.options is not what a Kustomization is compiled to')
}

function leftOutNote(objects: readonly UnknownObject[]): string {
  const names = nameSome(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`))
  return `objects of Flux stay on the hub and are not applied to clusters: ${names}`
}

const trees = new WeakMap<Files, Map<string, ReturnType<typeof createFileTree>>>()

/** The files of the source's artifact. Builds of the same artifact share the tree. */
function treeOf(files: Files, { ignore = '', include = [], isBucket = false }: FluxBuilderOptions) {
  const known = trees.get(files) ?? new Map<string, ReturnType<typeof createFileTree>>()
  trees.set(files, known)
  const key = JSON.stringify([ignore, include, isBucket])
  const made = known.get(key) ?? createFileTree(artifactFiles(files, include, { ignore, isBucket }))
  known.set(key, made)
  return made
}

function artifactFiles(
  files: Files,
  include: NonNullable<FluxBuilderOptions['include']>,
  { ignore, isBucket }: { readonly ignore: string; readonly isBucket: boolean },
): Map<string, Uint8Array> {
  const isIncluded = (path: string): boolean => include.some(({ at }) => path.startsWith(`${at}/`))
  const own = [...files.keys()].filter((path) => !isIncluded(path))
  const filter = isBucket ? bucketFilter : sourceFilter
  const isIgnored = filter({ files: own, read: (path) => fromUtf8(files.get(path)!), ignore })
  const kept = new Map<string, Uint8Array>()
  for (const path of own) if (!isIgnored(path)) kept.set(`${ROOT}/${path}`, files.get(path)!)
  for (const { at, from, to } of include) {
    const prefix = cleanPath(`/${at}/${from}`).slice(1)
    for (const [path, bytes] of files) {
      if (path.startsWith(`${prefix}/`)) kept.set(ROOT + cleanPath(`/${to}/${path.slice(prefix.length)}`), bytes)
    }
  }
  return kept
}

function objectOf(
  kind: string,
  name: string,
  { inputs }: BuilderRequest,
  { configMaps = {}, secrets = {} }: FluxBuilderOptions,
): JsonObject | undefined {
  if (kind === 'ConfigMap') return Object.hasOwn(configMaps, name) ? { kind, data: configMaps[name] } : undefined
  const texts = Object.hasOwn(secrets, name) ? inputs.get(secrets[name]!) : undefined
  if (!(texts instanceof Map)) return undefined
  const data = [...(texts as Map<string, unknown>)].map(([key, value]) => [key, base64(utf8(String(value)))])
  return { kind, data: Object.fromEntries(data) }
}

const LABEL = 'CLUSTER_LABEL_'

/** The variables about the cluster. */
function factOf(variable: string, { cluster }: BuilderRequest): string | undefined {
  if (variable === 'CLUSTER_NAME') return cluster.map.get('Name') as string
  if (variable === 'CLUSTER_ID') return cluster.id()
  if (!variable.startsWith(LABEL)) return undefined
  const key = variable.slice(LABEL.length)
  return cluster.label(key) ?? cluster.labelLike((label) => label.replaceAll(/[^A-Za-z0-9_]/g, '_') === key)
}

function decodeText(text: string): string | undefined {
  try {
    return fromUtf8(fromBase64(text))
  } catch {
    return undefined
  }
}
