/** Compiles a directory of a repository to a Bundle, with the Placement, RolloutPlan and Sources it needs. */
import { compact } from '../../../core/compact.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import type { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import type { RingSpec } from '../../../plan/rollout/rings.ts'
import { applyOptions, customOptions } from './apply-options.ts'
import { hasContent } from '../files/has-content.ts'
import type { FleetCustomization, FleetTarget, FleetYaml } from '../files/fleet-yaml.ts'
import { layerOf } from './layer.ts'
import type { LayerContext, RemoteChart } from './layer.ts'
import { placementOf } from './placement.ts'
import type { Finding } from '../../read-fields.ts'
import { ringsOf } from './rollout.ts'
import type { ScannedBundle } from '../files/scan.ts'
import { mappedWorkspaces, matchesAlternative, resolveTarget } from './targets.ts'
import type { Workspace } from './targets.ts'

/** The settings of a GitRepo for all its bundles. */
export interface GitRepoOptions {
  readonly targets?: readonly FleetTarget[]
  readonly targetNamespace?: string
  readonly serviceAccount?: string
  readonly paused?: boolean
  readonly keepResources?: boolean
  readonly deleteNamespace?: boolean
  readonly correctDrift?: { readonly enabled?: boolean; readonly force?: boolean }
}

/** The inputs of compiling besides the directory. */
export interface BundleCompileContext {
  readonly gitRepo: {
    readonly namespace: string
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    /** Whether the GitRepo allows plaintext Secrets in its repository. */
    readonly allowsSecrets?: boolean
  }
  readonly options: GitRepoOptions
  readonly workspace: Workspace & {
    readonly clusters: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[]
    /** False when only files are known: groups and bundles may exist all the same. */
    readonly isWhole?: boolean
    /** Bundles of the workspace, for `dependsOn` by labels. */
    readonly bundles: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[]
  }
  file(path: string): Uint8Array | undefined
  /** The directory of a remote chart that is among the files already. */
  embedded?(sum: string): string | undefined
  readonly findings: Finding[]
}

/** A compiled directory. */
export interface CompiledBundle {
  readonly name: string
  readonly path: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Bundle['spec']
  readonly placement: { readonly name: string; readonly spec: Placement['spec'] }
  readonly plan: { readonly name: string; readonly spec: RolloutPlan['spec'] }
  readonly charts: readonly RemoteChart[]
  readonly paused: boolean
  /** Number of clusters that the targets match. */
  readonly reach: number
}

const OWN_PREFIX = /(^|\.)(fleet\.cattle\.io|flotilla\.dev)\//

/** Compiles a directory; undefined when it has errors or no content, which the findings say. */
export function compileBundle(
  scanned: ScannedBundle,
  yaml: FleetYaml,
  scene: BundleCompileContext,
): CompiledBundle | undefined {
  const { findings, gitRepo, options, workspace } = scene
  const file = scanned.fleetYaml ?? (scanned.path || '.')
  const before = findings.length
  const wrong = (message: string): void => void findings.push({ level: 'error', file, message })
  const warn = (message: string): void => void findings.push({ level: 'warning', file, message })
  const charts = new Map<string, RemoteChart>()
  const layerScene: LayerContext = {
    path: scanned.path,
    gitRepo: gitRepo.name,
    file: (path) => scene.file(path),
    ...compact({ embedded: scene.embedded }),
    wrong,
    charts,
  }
  const base = layerOf(yaml, layerScene)
  const variants = yaml.customizations.flatMap((one) => variantOf(one, { yaml, scene, layerScene, warn, wrong }))
  const layers = [base, ...variants]
  if (!hasContent(scanned, layers, (path) => scene.file(path))) {
    const isWrong = findings.slice(before).some(({ level }) => level === 'error')
    if (scanned.fleetYaml !== undefined && scanned.files.length > 0 && !isWrong)
      warn('it holds nothing to deploy, so there is no bundle for it')
    return undefined
  }
  const name = yaml.name ?? scanned.name
  const targets = yaml.overrideTargets ?? targetsOf(options)
  const labels = { ...gitRepo.labels, ...taken(yaml.labels, warn) }
  const mapped = mappedWorkspaces(labels, workspace)
  const placement = {
    name: yaml.overrideTargets || mapped.length > 0 ? `${name}-targets` : gitRepo.name,
    spec: placementOf(targets, { namespace: gitRepo.namespace, mapped, workspace, wrong }),
  }
  const isTemplated = layers.some(({ helm }) => needsTemplates(helm))
  const paused = yaml.paused === true || options.paused === true
  // Bundles without settings of their own share a plan, so that a commit becomes one Release.
  const plan = yaml.rolloutStrategy || yaml.paused || yaml.overrideTargets ? `${name}-rollout` : gitRepo.name
  const reach = countOf(targets, workspace)
  const rings = ringsOf(yaml.rolloutStrategy ?? {}, reach, workspace)
  for (const note of yaml.rolloutStrategy ? rings.notes : []) warn(`rolloutStrategy: ${note}`)
  if (scanned.ignored.length > 256)
    wrong(`${scanned.ignored.length} files are ignored, and 256 can be said; ignore directories`)
  if (findings.slice(before).some(({ level }) => level === 'error')) return undefined
  const forced = options.targetNamespace ? { targetNamespace: options.targetNamespace } : {}
  return {
    name,
    path: scanned.path,
    labels,
    annotations: taken(yaml.annotations, warn),
    paused,
    reach,
    placement,
    plan: { name: plan, spec: { rings: rings.rings.map(ringOf), start: paused ? 'Manual' : 'Automatic' } },
    charts: [...charts.values()],
    spec: {
      source: compact({
        name: gitRepo.name,
        path: scanned.path === '' ? undefined : scanned.path,
        ignore: scanned.ignored.length === 0 ? undefined : [...scanned.ignored],
        include: charts.size === 0 ? undefined : [...charts.values()].map(({ source, at }) => ({ source, at })),
      }),
      raw: compact({
        otherDocuments: 'Skip',
        // Without kustomize.dir the files are manifests; with it, a cluster that no kustomize.dir matches must not get
        // the plain files.
        kustomizations: layers.some(({ kustomize }) => kustomize) ? 'Skip' : 'Include',
        templates: scanned.files.some((path) => path.startsWith('templates/')) ? 'Render' : undefined,
      }),
      ...compact({
        secrets: gitRepo.allowsSecrets ? 'Allow' : undefined,
        render: layers.some(({ helm }) => helm?.valuesFrom) ? { at: 'Agent' } : undefined,
      }),
      ...base,
      overlays: [...(base.overlays ?? [])],
      ...compact({
        helm: isTemplated ? { ...base.helm, valuesTemplating: base.helm?.valuesTemplating ?? 'Templates' } : undefined,
      }),
      ...forced,
      ...compact({ variants: variants.length === 0 ? undefined : variants.map((one) => ({ ...one, ...forced })) }),
      variantMode: yaml.allMatches ? 'All' : 'First',
      placement: placement.name,
      rollout: { plan },
      ...applyOptions(yaml, scene, warn),
    } as Bundle['spec'],
  }
}

function targetsOf({ targets }: GitRepoOptions): readonly FleetTarget[] {
  return targets && targets.length > 0 ? targets : [{ name: 'default', clusterGroup: 'default' }]
}

function countOf(targets: readonly FleetTarget[], workspace: BundleCompileContext['workspace']): number {
  const meanings = targets.map((target) => resolveTarget(target, workspace))
  const alternatives = meanings.flatMap((meaning) => ('problem' in meaning ? [] : meaning.alternatives))
  return workspace.clusters.filter((cluster) => alternatives.some((one) => matchesAlternative(one, cluster))).length
}

function ringOf({ soakMs: _soak, startByMs: _startBy, ...ring }: RingSpec): RolloutPlan['spec']['rings'][number] {
  return ring as RolloutPlan['spec']['rings'][number]
}

function needsTemplates(helm: { readonly values?: unknown; readonly templateValues?: unknown } | undefined): boolean {
  if (!helm) return false
  return (
    helm.templateValues !== undefined || /\$\{|"global\.fleet\.clusterLabels\./.test(JSON.stringify(helm.values ?? {}))
  )
}

/** Labels and annotations about ownership are never taken from a repository. */
function taken(
  own: Readonly<Record<string, string>> | undefined,
  warn: (message: string) => void,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(own ?? {}).filter(([key]) => {
      if (!OWN_PREFIX.test(key)) return true
      warn(`${key} says who owns a bundle and is not taken from a repository`)
      return false
    }),
  )
}

interface VariantScene {
  readonly yaml: FleetYaml
  readonly scene: BundleCompileContext
  readonly layerScene: LayerContext
  warn(message: string): void
  wrong(message: string): void
}

type Variant = NonNullable<Bundle['spec']['variants']>[number]

function variantOf(
  custom: FleetCustomization & { readonly name: string },
  { yaml, scene, layerScene, warn, wrong }: VariantScene,
): Variant[] {
  const meaning = resolveTarget(custom, scene.workspace)
  if ('problem' in meaning) {
    wrong(`customization ${custom.name}: ${meaning.problem}`)
    return []
  }
  if (meaning.alternatives.length === 0) {
    const group = custom.clusterGroup
      ? `; is there a ClusterGroup ${custom.clusterGroup}?`
      : '; it needs clusterName, clusterSelector, clusterGroup or clusterGroupSelector'
    if (!custom.clusterGroup || scene.workspace.isWhole !== false)
      warn(`customization ${custom.name} means no cluster${group}`)
    return []
  }
  const [only, ...more] = meaning.alternatives
  const options = customOptions(yaml, custom, scene)
  const helm = yaml.helm
  const layer = layerOf(custom, { ...layerScene, ...compact({ base: helm }) })
  const index = yaml.customizations.filter(({ name }) => name === custom.name).indexOf(custom)
  return [
    {
      name: `${custom.name.slice(0, 59)}${index > 0 ? `-${index + 1}` : ''}`,
      ...(more.length === 0 ? only : { anyOf: meaning.alternatives }),
      ...compact({
        skip: custom.doNotDeploy ? true : undefined,
        options: Object.keys(options).length === 0 ? undefined : options,
      }),
      ...layer,
    } as Variant,
  ]
}
