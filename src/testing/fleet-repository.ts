/** A repository in a test, read as Fleet reads it and rendered for clusters. */
import { utf8 } from '../core/bytes.ts'
import type { ClusterInputs } from '../core/cluster-inputs.ts'
import type { CompiledBundle } from '../dialects/fleet/compile/compile-bundle.ts'
import { findingText } from '../dialects/read-fields.ts'
import { readRepository } from '../dialects/fleet/compile/compile-repository.ts'
import type { RepositoryRequest } from '../dialects/fleet/compile/compile-repository.ts'
import { fitsAlternative, meaningOf } from '../dialects/fleet/compile/targets.ts'
import type { FleetGroup } from '../dialects/fleet/compile/targets.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import type { BundleRecipe } from '../render/bundle/recipe.ts'
import { renderVariant } from '../render/bundle/render-variant.ts'
import type { Variant } from '../render/bundle/render-variant.ts'
import { describeProblems } from '../render/render-result.ts'

/** Clusters by name with their labels. */
export const FLEET_CLUSTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  c1: { env: 'prod', region: 'eu' },
  c2: { env: 'dev', region: 'eu' },
  c3: { env: 'prod', region: 'us', 'management.cattle.io/cluster-display-name': 'paris' },
  c4: {},
}

/** What a test says besides the files. */
export interface FleetSetting {
  readonly gitRepo?: string
  readonly spec?: RepositoryRequest['spec']
  readonly labels?: Readonly<Record<string, string>>
  readonly groups?: readonly FleetGroup[]
  readonly clusters?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly bundles?: RepositoryRequest['workspace']['bundles']
  /** More of a cluster than its labels. */
  readonly inputs?: Partial<ClusterInputs>
}

/** What came out of a repository. */
export interface FleetReading {
  readonly bundles: readonly CompiledBundle[]
  readonly findings: readonly string[]
  readonly failed: readonly string[]
  /** The bundle of a name. */
  bundle(name?: string): CompiledBundle
  /** What a cluster gets of a bundle. */
  variant(cluster: string, bundle?: string): Variant
  /** Its objects, or the sentence that says why there are none. */
  objects(cluster: string, bundle?: string): UnknownObject[] | string
}

/** Reads files by path; a value that is no text becomes YAML by way of JSON. */
export function readFleetTree(tree: Readonly<Record<string, unknown>>, setting: FleetSetting = {}): FleetReading {
  const files = new Map(
    Object.entries(tree).map(([path, content]) => [
      path,
      utf8(typeof content === 'string' ? content : JSON.stringify(content)),
    ]),
  )
  const clusters = setting.clusters ?? FLEET_CLUSTERS
  const read = readRepository({
    gitRepo: { namespace: 'fleet-default', name: setting.gitRepo ?? 'repo', labels: setting.labels ?? {} },
    spec: { targets: [{ name: 'all', clusterSelector: {} }], ...setting.spec },
    workspace: {
      groups: setting.groups ?? [],
      aliases: () => [],
      clusters: Object.entries(clusters).map(([name, labels]) => ({ name, labels })),
      bundles: setting.bundles ?? [],
    },
    files,
  })
  const bundle = (name?: string): CompiledBundle => {
    const found = name === undefined ? read.bundles[0] : read.bundles.find((one) => one.name === name)
    if (!found)
      throw new Error(
        `no bundle ${name ?? ''} in ${read.bundles.map((one) => one.name).join(', ')}; ${read.findings.map(findingText).join('; ')}`,
      )
    return found
  }
  const variant = (cluster: string, name?: string): Variant => {
    const inputs: ClusterInputs = {
      name: cluster,
      labels: clusters[cluster] ?? {},
      annotations: {},
      claims: {},
      values: {},
      ...setting.inputs,
    }
    return renderVariant(recipeOf(bundle(name)), inputs, { files, entropy: NO_ENTROPY, frozen: {} })
  }
  return {
    bundles: read.bundles,
    findings: read.findings.map(findingText),
    failed: read.failed,
    bundle,
    variant,
    objects: (cluster, name) => {
      const { result } = variant(cluster, name)
      if (result.ok === 'skip') return `skipped by ${result.by}`
      if (result.ok === 'prepared') return 'rendered in the cluster'
      return result.ok ? [...result.objects] : describeProblems(result.problems)
    },
  }
}

/** Nothing random, and no time. */
export const NO_ENTROPY = {
  randomBytes: (count: number) => new Uint8Array(count),
  now: () => 0,
  generateKey: () => '',
}

function recipeOf({ name, spec }: CompiledBundle): BundleRecipe {
  const {
    source,
    secrets,
    variantMode,
    inputs: _inputs,
    rollout: _rollout,
    templating: _templating,
    render,
    ...rest
  } = spec
  return {
    ...rest,
    bundle: `fleet-default/${name}`,
    at: render?.at,
    path: source?.path,
    ignore: source?.ignore,
    allowSecrets: secrets === 'Allow',
    firstVariantOnly: variantMode === 'First',
  }
}

/** The clusters that targets mean. */
export function meantBy(
  targets: readonly Parameters<typeof meaningOf>[0][],
  groups: readonly FleetGroup[] = [],
): string[] {
  const alternatives = targets.flatMap((target) => {
    const meaning = meaningOf(target, { groups, aliases: () => [] })
    return 'problem' in meaning ? [] : meaning.alternatives
  })
  return Object.entries(FLEET_CLUSTERS).flatMap(([name, labels]) =>
    alternatives.some((one) => fitsAlternative(one, { name, labels })) ? [name] : [],
  )
}
