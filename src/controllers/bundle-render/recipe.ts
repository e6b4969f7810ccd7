/** The recipe of a Bundle: its content, its Source's artifact and its Overrides, and a digest of all of them. */
import { findCondition } from '../../core/conditions.ts'
import { digestOfJson } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { compact } from '../../core/compact.ts'
import { Stalled, Waiting } from '../../core/errors.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { pickBundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { Origin } from '../../kinds/fields/origin.ts'
import { allowsSecrets } from '../../kinds/fields/secrets-annotation.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Override } from '../../kinds/native/override.ts'
import type { Source } from '../../kinds/native/source.ts'
import { isDriftDecision } from '../../plan/drift/drift-rules.ts'
import { exceptionsInForce, isRuleException } from '../../plan/policy/rules/rule-exceptions.ts'
import { contentDigest } from '../../render/bundle/content-digest.ts'
import { clusterDecryption } from '../../render/bundle/encrypted-content.ts'
import type { BundleRecipe, InputSource, LayerOptions } from '../../render/bundle/recipe.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import type { BundleRenderPorts } from './ports.ts'
import { denialDigest } from './rules/rule-book.ts'
import { sopsKeys, markedSopsKeys, markedInputs, refuseSecretInputs, secretInput } from './secret-inputs.ts'

/** The present recipe of a Bundle. */
export interface FoundRecipe {
  readonly recipe: BundleRecipe
  /** Changes with all inputs of rendering except the clusters. */
  readonly digest: Digest
  readonly revision?: string
  readonly origin?: Origin
  /** Milliseconds until the next Override expires. */
  readonly endsInMs?: number
  /** Whether a part of the recipe cannot be watched and is read again in intervals. */
  readonly isPolled: boolean
}

const WAIT_MS = 30_000

/** Builds a Bundle's recipe; throws Waiting or Stalled when a part is missing. */
export async function recipeOf(bundle: Bundle, ports: BundleRenderPorts, now: number): Promise<FoundRecipe> {
  const { spec } = bundle
  const key = keyOf(bundle)
  if ([spec.manifests, spec.manifestsFrom, spec.source].filter((content) => content !== undefined).length !== 1) {
    throw new Stalled('NoContent', 'spec must have exactly one of manifests, manifestsFrom and source.')
  }
  refuseSecretInputs(bundle)
  const artifact = spec.source && artifactOf(bundle, spec.source.name, ports)
  const included = spec.source?.include?.map(({ source, at }) => ({
    artifact: artifactOf(bundle, source, ports).digest,
    at,
  }))
  // Decisions about drift go into the documents of their clusters, past Releases.
  const overrides = ports.overridesOf(key)
  const active = overrides.filter((one) => !isOver(one, now) && !isDriftDecision(one) && !isRuleException(one))
  const exceptions = exceptionsInForce(overrides, now)
  const recipe: BundleRecipe = {
    bundle: key,
    manifests: spec.manifests,
    manifestParts: spec.manifestsFrom && (await manifestsIn(bundle, ports)),
    artifact: artifact?.digest,
    path: spec.source?.path,
    ignore: spec.source?.ignore,
    include: included,
    raw: spec.raw,
    style: spec.style,
    builder: spec.builder,
    at: spec.render?.at === 'Agent' ? 'Agent' : undefined,
    templating: spec.templating === 'Enabled',
    allowSecrets: spec.secrets === 'Allow' || isAllowedBySource(bundle, ports),
    ...optionsOf(spec),
    variants: spec.variants,
    firstVariantOnly: spec.variantMode === 'First',
    overrides: active
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map(({ metadata, spec: layer }) => ({
        name: metadata.name,
        clusterSelector: layer.clusterSelector,
        clusters: layer.clusters,
        anyOf: layer.anyOf,
        ...optionsOf(layer),
      })),
    inputs: await inputsOf(bundle, ports),
    sops: await sopsKeys(bundle, ports),
    decryptInCluster: clusterDecryption(bundle),
  }
  const tree = artifact && (await ports.treeOf(artifact.digest))
  if (artifact && !tree) throw new Waiting('ArtifactMissing', `Artifact ${artifact.digest} is not stored yet.`, WAIT_MS)
  const content = tree && contentDigest(tree.files, recipe)
  const ends = [...active, ...exceptions].flatMap(({ spec: { expiresAt } }) =>
    expiresAt === undefined ? [] : [parseTime(expiresAt) ?? now],
  )
  return {
    recipe,
    digest: digestOfJson({
      ...recipe,
      inputs: await markedInputs(bundle, recipe.inputs, ports),
      sops: await markedSopsKeys(bundle, recipe.sops, ports),
      artifact: content,
      apply: pickBundleOptions(spec),
      placement: spec.placement,
      ...compact({ denials: denialDigest(ports.ruleBook(), exceptions), exclude: spec.exclude }),
    }),
    ...(artifact ? { revision: artifact.revision, origin: originOf(artifact) } : {}),
    ...compact({ endsInMs: ends.length === 0 ? undefined : Math.max(1000, Math.min(...ends) - now) }),
    isPolled:
      spec.manifestsFrom !== undefined ||
      (spec.decryption?.secret !== undefined && recipe.decryptInCluster === undefined) ||
      (spec.inputs ?? []).some(({ configMap, secret }) => configMap !== undefined || secret !== undefined),
  }
}

function optionsOf({
  overlays,
  helm,
  kustomize,
  defaultNamespace,
  targetNamespace,
  labels,
  images,
  patches,
}: LayerOptions): LayerOptions {
  return { helm, kustomize, defaultNamespace, targetNamespace, labels, images, patches, overlays }
}

type Artifact = NonNullable<NonNullable<Source['status']>['artifact']>

/** Not a part of the digest: a commit that changes nothing of the Bundle makes no Release. */
function originOf({ author, subject, from }: Pick<Artifact, keyof Origin>): Origin {
  return { from, ...compact({ author, subject }) }
}

function isOver({ spec }: Override, now: number): boolean {
  return spec.expiresAt !== undefined && (parseTime(spec.expiresAt) ?? 0) <= now
}

function artifactOf(
  bundle: Bundle,
  name: string,
  ports: BundleRenderPorts,
): Pick<Artifact, 'digest' | 'revision' | keyof Origin> {
  const source = ports.sourceOf(bundle.metadata.namespace ?? '', name)
  if (!source) throw new Waiting('SourceNotFound', `spec.source names Source ${name}, which does not exist.`, WAIT_MS)
  const artifact = source.status?.artifact
  if (artifact) return artifact
  const words = findCondition(source.status?.conditions, 'Ready')?.message
  throw new Waiting('SourceNotReady', `Source ${name} has no artifact yet${words ? `: ${words}` : '.'}`, WAIT_MS)
}

function isAllowedBySource({ spec, metadata }: Bundle, ports: BundleRenderPorts): boolean {
  const source = spec.source && ports.sourceOf(metadata.namespace ?? '', spec.source.name)
  return source !== undefined && allowsSecrets(source)
}

/** The texts of ConfigMaps, in the order of `spec.manifestsFrom` and of their keys. */
async function manifestsIn({ metadata, spec }: Bundle, ports: BundleRenderPorts) {
  const parts: { file: string; text: string }[] = []
  for (const { configMap, key } of spec.manifestsFrom ?? []) {
    const data = await ports.configMapData(metadata.namespace ?? '', configMap)
    const keys = key === undefined ? Object.keys(data ?? {}).sort() : [key]
    const missing = data === undefined ? `ConfigMap ${configMap}` : `key ${keys[0] ?? ''} of ConfigMap ${configMap}`
    if (data === undefined || keys.length === 0 || keys.some((one) => !Object.hasOwn(data, one))) {
      throw new Waiting('ManifestsNotFound', `spec.manifestsFrom names ${missing}, and that is not there.`, WAIT_MS)
    }
    for (const one of keys) parts.push({ file: `ConfigMap ${configMap}, ${one}`, text: data[one]! })
  }
  return parts
}

async function inputsOf(bundle: Bundle, ports: BundleRenderPorts): Promise<Record<string, InputSource>> {
  const inputs: Record<string, InputSource> = {}
  for (const { name, configMap, secret, file, table } of bundle.spec.inputs ?? []) {
    if (secret) inputs[name] = { value: await secretInput(bundle, name, secret, ports) }
    else if (table) inputs[name] = { table: table.file, key: table.key }
    else if (file !== undefined) inputs[name] = { file }
    else if (configMap) {
      const text = (await ports.configMapData(bundle.metadata.namespace ?? '', configMap.name))?.[configMap.key]
      if (text === undefined) {
        const what = `key ${configMap.key} of ConfigMap ${configMap.name}`
        throw new Waiting('InputNotFound', `Input ${name} is ${what}, and that is not there.`, WAIT_MS)
      }
      inputs[name] = { value: readYamlDocument(text, { file: `ConfigMap ${configMap.name}`, resolver: '1.1' }).value }
    } else throw new Stalled('BadInput', `Input ${name} needs one of configMap, secret, file and table.`)
  }
  return inputs
}
