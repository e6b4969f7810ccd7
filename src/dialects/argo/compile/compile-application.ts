/**
 * Compiles an Application, or all Applications that differ only in their cluster, to Source, Placement, RolloutPlan and
 * Bundle.
 */
import { compact } from '../../../core/compact.ts'
import type { LabelRequirement } from '../../../core/text/label-selector.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { isAutomated, optionsOf, textsIn } from '../application.ts'
import type { ApplicationSpec, ApplicationTraits, Diagnostics } from '../application.ts'
import { hasPlaceholders, solePlaceholder, restorePlaceholders } from '../generators/cluster-placeholders.ts'
import { bundleContent } from './bundle-content.ts'
import type { ImportedObjects } from './imported-objects.ts'
import type { Repositories } from '../files/repositories.ts'

/** An Application to compile. */
export interface Application {
  /** The name of its Bundle. */
  readonly name: string
  /** The ApplicationSet of the Application; shared objects are named after it. */
  readonly set?: string
  /** The name in Argo CD; with placeholders when each cluster has its own Application. */
  readonly ownName: string
  readonly labels: Readonly<Record<string, string>>
  readonly finalizers: readonly string[]
  /** Whether the Application, or its ApplicationSet, allows plaintext Secrets in its repository. */
  readonly allowsSecrets?: boolean
  readonly spec: ApplicationSpec
  /** What a sync that a user asked for changes. */
  readonly operation?: ApplicationTraits['operation']
  /** Rules of `argocd-cm`. */
  readonly settings?: ApplicationTraits['settings']
  /** Whether the hub syncs the Application in the steps of its set. */
  readonly isStepped?: boolean
  /** The AppProject. */
  readonly project?: string
  /** The labels of the clusters, instead of the destination: one Application per cluster. */
  readonly clusters?: readonly LabelRequirement[]
  /** The rings of the RolloutPlan, when the ApplicationSet has steps. */
  readonly rings?: readonly object[]
}

/** The inputs of compiling. */
export interface ApplicationCompileContext extends Diagnostics {
  readonly objects: ImportedObjects
  /** The Cluster of a destination. */
  clusterOf(destination: string): string | undefined
  /** The clusters that get all Bundles, instead of the destinations. */
  readonly allClusters?: readonly LabelRequirement[]
  readonly repositoryOf: Repositories['of']
  /** Names of the Placement and the RolloutPlan, which are there; an import makes them. */
  readonly delivery?: { readonly placement: string; readonly plan: string }
  /** Whether the hub takes the Applications of the content. */
  readonly takesApplications?: boolean
}

const LOCAL = new Set(['in-cluster', 'https://kubernetes.default.svc'])
const MOST_HISTORY = 1000
const OWN_PREFIX = /(^|\.)(argoproj\.io|flotilla\.dev)\//

/** Adds the objects of an Application; reports fields that have no equivalent. */
export function compileApplication(app: Application, scene: ApplicationCompileContext): void {
  const { spec } = app
  reportMarks(app, scene)
  const given = spec.sources && spec.sources.length > 0 ? spec.sources : spec.source ? [spec.source] : []
  const contents = given.filter(({ ref, path, chart }) => ref === undefined || path || chart)
  if (contents.length === 0) scene.wrong('spec.source must say what is deployed')
  const placement = scene.delivery?.placement ?? placementOf(app, scene)
  const plan = scene.delivery?.plan ?? planOf(app, scene)
  const options = optionsOf(
    spec,
    compact({
      finalizers: app.finalizers,
      isStepped: app.isStepped ?? app.rings !== undefined,
      operation: app.operation,
      settings: app.settings,
    }),
    scene,
  )
  const { namespace } = spec.destination ?? {}
  const labels = labelsOf(app, scene)
  for (const source of contents) {
    const bundle = scene.objects.nameFor(Bundle, app.name)
    const content = bundleContent(source, { app, bundle, scene, given })
    if (content === undefined || placement === undefined) continue
    const rollout = compact({
      plan,
      ...compact({
        history:
          spec.revisionHistoryLimit === undefined
            ? undefined
            : Math.min(Math.max(1, spec.revisionHistoryLimit), MOST_HISTORY),
      }),
    })
    scene.objects.add(Bundle, bundle, {
      labels,
      spec: {
        placement,
        ...content,
        ...compact({
          secrets: app.allowsSecrets ? 'Allow' : undefined,
          defaultNamespace: namespace && !hasPlaceholders(namespace) ? namespace : undefined,
          exclude: app.settings?.exclude && [...app.settings.exclude],
          rollout: Object.keys(rollout).length === 0 ? undefined : rollout,
        }),
        ...options,
      },
    })
  }
}

function labelsOf({ labels, rings }: Application, { note }: ApplicationCompileContext): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => {
      // Rings read such a label from the cluster itself.
      if (hasPlaceholders(value) && !rings)
        note(`label ${key} depends on the cluster (${restorePlaceholders(value)}) and is left out`)
      return !OWN_PREFIX.test(key) && !hasPlaceholders(value)
    }),
  )
}

/** Only values can depend on the cluster; other fields with a placeholder are an error. */
function reportMarks({ spec }: Application, { wrong }: ApplicationCompileContext): void {
  const { destination, source, sources, ...rest } = spec
  const bare = [...(source ? [source] : []), ...(sources ?? [])].map(({ helm, ...one }) => {
    const { values: _values, valuesObject: _object, parameters: _parameters, ...plain } = helm ?? {}
    return { ...one, helm: plain }
  })
  const told = new Set<string>()
  for (const [path, text] of textsIn({
    source: bare.length === 1 ? bare[0] : bare,
    destination: { namespace: destination?.namespace },
    ...rest,
  })) {
    if (!hasPlaceholders(text) || told.has(path)) continue
    told.add(path)
    wrong(
      `${path} depends on the cluster (${restorePlaceholders(text)}), which only values can; write a variant of the Bundle for each value of the label`,
    )
  }
}

function placementOf(app: Application, scene: ApplicationCompileContext): string | undefined {
  const add = (spec: Placement['spec'], name = app.set ?? app.name): string =>
    scene.objects.add(Placement, name, { spec })
  const { destination = {} } = app.spec
  const by = scene.allClusters ?? app.clusters
  if (!scene.allClusters && app.clusters) {
    const target = destination.name ?? destination.server ?? ''
    const word = solePlaceholder(target)
    if (word !== 'name' && word !== 'server') {
      scene.wrong(
        `destination ${JSON.stringify(restorePlaceholders(target))} must be {{name}} or {{server}} of the clusters that the generator finds`,
      )
      return undefined
    }
  }
  if (by) return add({ clusterSelector: by.length === 0 ? {} : { matchExpressions: by.map(copyOf) } })
  const target = destination.name ?? destination.server ?? ''
  const cluster =
    scene.clusterOf(target) ?? (destination.name && !LOCAL.has(destination.name) ? destination.name : undefined)
  if (cluster !== undefined) {
    const cel = [`cluster.metadata.name == ${JSON.stringify(cluster)}`]
    return add({ clusterSelector: {}, predicates: [{ cel }] }, cluster)
  }
  scene.wrong(
    target === ''
      ? 'destination must name a cluster'
      : `destination ${target}: which Cluster is that here? say --cluster ${target}=NAME, or -l LABELS for all of it`,
  )
  return undefined
}

function copyOf({ key, operator, values }: LabelRequirement) {
  return compact({ key, operator, values: values ? [...values] : undefined })
}

function planOf(app: Application, scene: ApplicationCompileContext): string | undefined {
  // Steps sync automatically, whatever the sync policies of the Applications are.
  const isManual = !isAutomated(app.spec) && !app.rings
  if (!isManual && !app.rings) return undefined
  const spec = compact({ rings: app.rings, start: isManual ? 'Manual' : undefined })
  return scene.objects.add(RolloutPlan, app.set ?? app.name, { spec })
}
