// Tested by src/cli/commands/preview/render.test.ts.
/** A Bundle of a file, as the renderer takes it. */
import { fromBase64, fromUtf8, generateTraditionalKey } from '../../core/bytes.ts'
import { isDriftDecision } from '../../plan/drift/drift-rules.ts'
import { isRuleException } from '../../plan/policy/rules/rule-exceptions.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { allowsSecrets } from '../../kinds/fields/secrets-annotation.ts'
import type { Override } from '../../kinds/native/override.ts'
import type { Source } from '../../kinds/native/source.ts'
import { clusterDecryption } from '../../render/bundle/encrypted-content.ts'
import type { BundleRecipe, InputSource } from '../../render/bundle/recipe.ts'
import type { Entropy } from '../../render/helm/frozen-random.ts'
import { extractSecretData } from '../../render/secret-values.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'

/** The texts of a ConfigMap or Secret in the namespace of the bundle, where it is known. */
export type ReadInputData = (kind: 'ConfigMap' | 'Secret', name: string) => Readonly<Record<string, string>> | undefined

/** The texts of such an object of a file. */
export function textsOfObject(object: UnknownObject | undefined): Readonly<Record<string, string>> | undefined {
  if (!object) return undefined
  const { data } = extractSecretData(object)
  if (!data) return (object['data'] ?? {}) as Record<string, string>
  return Object.fromEntries(Object.entries(data.reveal()).map(([key, value]) => [key, fromUtf8(fromBase64(value))]))
}

/** Randomness and time for charts that draw values. */
export const ENTROPY: Entropy = {
  randomBytes: systemIds.bytes,
  now: () => systemClock.now(),
  generateKey: generateTraditionalKey,
}

/** The objects of files or of a hub that a recipe depends on. */
export interface RecipeFacts {
  /** The Overrides of all Bundles. */
  readonly overrides: readonly Override[]
  readonly sources: readonly Source[]
}

/** Puts together what a Bundle is rendered from. */
export function recipeFor(bundle: Bundle, { overrides, sources }: RecipeFacts, textsOf: ReadInputData): BundleRecipe {
  const {
    source,
    manifests,
    manifestsFrom,
    templating,
    secrets,
    variantMode,
    inputs,
    rollout: _rollout,
    render,
    ...spec
  } = bundle.spec
  const now = systemClock.now()
  return {
    ...spec,
    bundle: `${bundle.metadata.namespace ?? 'default'}/${bundle.metadata.name}`,
    manifests,
    manifestParts: manifestsFrom?.flatMap((from) => partsOf(from, textsOf)),
    path: source?.path,
    ignore: source?.ignore,
    at: render?.at,
    decryptInCluster: clusterDecryption(bundle),
    templating: templating === 'Enabled',
    allowSecrets: secrets === 'Allow' || sources.some((one) => isSourceOf(one, bundle) && allowsSecrets(one)),
    firstVariantOnly: variantMode === 'First',
    overrides: overrides
      .filter(({ spec: { bundle: name } }) => name === bundle.metadata.name)
      .filter(({ metadata }) => (metadata.namespace ?? 'default') === (bundle.metadata.namespace ?? 'default'))
      .filter((override) => !isDriftDecision(override) && !isRuleException(override))
      .filter(({ spec: { expiresAt } }) => expiresAt === undefined || (parseTime(expiresAt) ?? 0) > now)
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map(({ metadata, spec: layer }) => ({ ...layer, name: metadata.name })),
    inputs: Object.fromEntries((inputs ?? []).map((input) => [input.name, inputOf(input, textsOf)])),
  }
}

function isSourceOf({ metadata }: Source, bundle: Bundle): boolean {
  const isNear = (metadata.namespace ?? 'default') === (bundle.metadata.namespace ?? 'default')
  return isNear && metadata.name === bundle.spec.source?.name
}

function partsOf(
  { configMap, key }: NonNullable<Bundle['spec']['manifestsFrom']>[number],
  textsOf: ReadInputData,
): { readonly file: string; readonly text: string }[] {
  const texts = textsOf('ConfigMap', configMap) ?? {}
  const keys = key === undefined ? Object.keys(texts).sort() : [key]
  if (keys.length === 0 || keys.some((one) => texts[one] === undefined)) {
    throw new CliError(EXIT.usage, {
      what: `spec.manifestsFrom: ConfigMap ${JSON.stringify(configMap)} is not in the files`,
      todo: 'add the file with another -f FILE',
    })
  }
  return keys.map((one) => ({ file: `ConfigMap ${configMap}, ${one}`, text: texts[one]! }))
}

function inputOf(input: NonNullable<Bundle['spec']['inputs']>[number], textsOf: ReadInputData): InputSource {
  if (input.table) return { table: input.table.file, key: input.table.key }
  if (input.file !== undefined) return { file: input.file }
  const kind = input.secret ? 'Secret' : 'ConfigMap'
  const { name, key } = { key: undefined, ...(input.secret ?? input.configMap ?? { name: '' }) }
  const texts = textsOf(kind, name)
  const text = key === undefined ? undefined : texts?.[key]
  if (texts === undefined || (key !== undefined && text === undefined)) {
    throw new CliError(EXIT.usage, {
      what: `input ${JSON.stringify(input.name)}: ${kind} ${JSON.stringify(name)} is not in the files`,
      todo: 'add the file with another -f FILE',
    })
  }
  if (input.secret) return { value: text ?? texts }
  return { value: readYamlDocument(text ?? '', { resolver: '1.1' }).value }
}
