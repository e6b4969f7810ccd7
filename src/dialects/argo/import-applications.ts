/** Imports Applications and ApplicationSets of Argo CD as Flotilla objects, for users who replace Argo CD. */
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LabelRequirement } from '../../core/text/label-selector.ts'
import { allowsSecrets, SECRETS_ANNOTATION } from '../../kinds/fields/secrets-annotation.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { fromRollingSync } from '../rollout-strategies.ts'
import type { RollingSyncStep } from '../rollout-strategies.ts'
import type { Fields } from '../field-table.ts'
import { readFields } from '../read-fields.ts'
import type { Reading } from '../read-fields.ts'
import { solePlaceholder, removePlaceholders } from './generators/cluster-placeholders.ts'
import { compileApplication } from './compile/compile-application.ts'
import type { Application, ApplicationCompileContext } from './compile/compile-application.ts'
import { APPLICATION, APPLICATION_SET } from './fields.ts'
import { importSets } from './generators/import-sets.ts'
import type { ImportedSet } from './generators/import-sets.ts'
import { createImportedObjects } from './compile/imported-objects.ts'
import { repositoriesOf } from './files/repositories.ts'
import type { Clone } from './files/repositories.ts'

/** The group of Argo CD's kinds. */
const ARGO_GROUP = 'argoproj.io'

/** The input of an import. */
export interface ApplicationsRequest {
  readonly objects: readonly UnknownObject[]
  readonly namespace: string
  /** Clusters by their name or address in Argo CD. */
  readonly clusters: ReadonlyMap<string, string>
  /** The clusters that get all Bundles, instead of the destinations. */
  readonly allClusters?: readonly LabelRequirement[]
  /** Local clones of repositories. */
  readonly clones?: readonly Clone[]
}

/** The result; with problems, a part of the input is not in the objects. */
export interface ImportedApplications {
  readonly objects: readonly UnknownObject[]
  readonly notes: readonly string[]
  readonly problems: readonly string[]
}

/** Whether an object is an Application or an ApplicationSet. */
export function isOfArgo({ apiVersion, kind }: UnknownObject): boolean {
  return apiVersion.startsWith(`${ARGO_GROUP}/`) && ['Application', 'ApplicationSet'].includes(kind)
}

/** Compiles all objects once. */
export function importApplications(request: ApplicationsRequest): ImportedApplications {
  const notes = new Set<string>()
  const problems = new Set<string>()
  const objects = createImportedObjects(request.namespace)
  const sets = new Set(
    request.objects.filter(({ kind }) => kind === 'ApplicationSet').map(({ metadata }) => metadata.name),
  )
  const given = request.objects.filter(
    (object) =>
      isOfArgo(object) &&
      !object.metadata.ownerReferences?.some(({ kind, name }) => kind === 'ApplicationSet' && sets.has(name)),
  )
  const repositories = repositoriesOf(
    request.clones ?? [],
    given.map((object) => object['spec']),
  )
  for (const problem of repositories.problems) problems.add(problem)
  for (const object of request.objects.filter((one) => !isOfArgo(one))) notes.add(leftOutText(object))
  for (const object of given) {
    const who = `${object.kind} ${object.metadata.name}`
    const scene: ApplicationCompileContext = {
      objects,
      note: (message) => void notes.add(`${who}: ${message}`),
      wrong: (message) => void problems.add(`${who}: ${message}`),
      clusterOf: (destination) => request.clusters.get(destination),
      repositoryOf: (url) => repositories.of(url),
      ...compact({ allClusters: request.allClusters }),
    }
    const applications = object.kind === 'Application' ? [applicationOf(object, scene)] : generatedBy(object, scene)
    for (const application of applications) compileApplication(application, scene)
  }
  return { objects: objects.all(), notes: [...notes], problems: [...problems] }
}

/** A finding about another object beside the Applications. */
function leftOutText({ kind, metadata }: UnknownObject): string {
  const who = `${kind} ${metadata.name} is not taken over`
  return kind === 'AppProject' ? `${who}: who may bring what where is decided by namespaces and roles` : who
}

function readSpec(spec: unknown, fields: Fields, reading: Reading): JsonObject {
  return readFields(isObject(spec) ? spec : {}, fields, reading, ['spec'])
}

function readingFor({ note, wrong }: ApplicationCompileContext): Reading {
  return {
    system: 'Argo CD',
    report: (level, _path, message) => (level === 'error' ? wrong(message) : note(message)),
  }
}

function applicationOf({ metadata, ...rest }: UnknownObject, scene: ApplicationCompileContext): Application {
  const { project, ...spec } = isObject(rest['spec']) ? rest['spec'] : {}
  const { finalizers = [] } = metadata as { finalizers?: readonly string[] }
  const read = readSpec(project === 'default' ? spec : { project, ...spec }, APPLICATION, readingFor(scene))
  delete read['project']
  tellAnnotations(Object.keys(metadata.annotations ?? {}), scene)
  return {
    name: metadata.name,
    ownName: metadata.name,
    labels: metadata.labels ?? {},
    finalizers,
    ...compact({ allowsSecrets: allowsSecrets({ metadata }) ? true : undefined }),
    spec: read,
  }
}

const SYNC_WAVE = 'argocd.argoproj.io/sync-wave'
// Metadata that kubectl and Argo CD write.
const NOT_SAID =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|argocd\.argoproj\.io\/(refresh|tracking-id|hydrate))$/

function tellAnnotations(keys: readonly string[], { note }: ApplicationCompileContext): void {
  for (const key of keys.filter((one) => !NOT_SAID.test(one) && one !== SECRETS_ANNOTATION)) {
    const advice = key === SYNC_WAVE ? ': write dependsOn of the Bundle' : ''
    note(`annotation ${key} of an Application has no effect${advice}`)
  }
}

interface ApplicationSetSpec {
  readonly template?: JsonObject
  readonly syncPolicy?: { readonly preserveResourcesOnDeletion?: boolean }
  readonly strategy?: {
    readonly type?: string
    readonly rollingSync?: { readonly steps?: readonly JsonObject[] }
  }
}

const FINALIZER = 'resources-finalizer.argocd.argoproj.io'

/** Fields of a template that Argo CD does not know: its Applications no longer have them. */
function tellUnknownFields({ spec }: JsonObject, { note }: ApplicationCompileContext): void {
  readSpec(spec, APPLICATION, {
    system: 'Argo CD',
    report: (_level, _path, message) => void (message.includes('is no field of') && note(message)),
  })
}

/** The Applications of an ApplicationSet; Applications that differ only in their cluster are one. */
function generatedBy(set: UnknownObject, scene: ApplicationCompileContext): Application[] {
  const reading = readingFor(scene)
  const spec = readSpec(set['spec'], APPLICATION_SET, reading) as ApplicationSetSpec
  const raw = isObject(set['spec']) ? set['spec'] : {}
  tellUnknownFields(spec.template ?? {}, scene)
  const sets = importSets(raw, { ...scene, reading })
  if (sets.length === 0) scene.wrong('its generators give nothing, so there is nothing to take over')
  const keep = spec.syncPolicy?.preserveResourcesOnDeletion === true
  return sets.map((one) => {
    const { application: template } = one
    const metadata = isObject(template['metadata']) ? template['metadata'] : {}
    const ownName = typeof metadata['name'] === 'string' ? metadata['name'] : set.metadata.name
    const finalizers = Array.isArray(metadata['finalizers']) ? (metadata['finalizers'] as string[]) : []
    const made = applicationOf(
      {
        ...template,
        apiVersion: set.apiVersion,
        kind: 'Application',
        metadata: {
          name: removePlaceholders(ownName) || set.metadata.name,
          ...compact({
            labels: isObject(metadata['labels']) ? (metadata['labels'] as Record<string, string>) : undefined,
            annotations: isObject(metadata['annotations'])
              ? (metadata['annotations'] as Record<string, string>)
              : undefined,
          }),
        },
      },
      scene,
    )
    return {
      ...made,
      ...compact({ allowsSecrets: allowsSecrets(set) ? true : undefined }),
      set: set.metadata.name,
      ownName,
      finalizers: finalizers.length > 0 || keep ? finalizers : [FINALIZER],
      ...compact({ clusters: one.clusters }),
      ...ringsOf(spec, made, { ...scene, set: one }),
    }
  })
}

/**
 * Steps of RollingSync as rings: labels of Applications become labels of clusters where the template copies them from
 * there.
 */
function ringsOf(
  { strategy }: ApplicationSetSpec,
  { labels }: Application,
  scene: ApplicationCompileContext & { readonly set: ImportedSet },
): { readonly rings?: readonly object[] } {
  const steps = strategy?.rollingSync?.steps ?? []
  if (strategy?.type !== 'RollingSync' || steps.length === 0) return {}
  if (!scene.set.clusters) {
    scene.wrong(
      'strategy.rollingSync: rings take clusters by their labels, and these Applications are one each; label the Clusters and use generators[].clusters, or leave out the strategy',
    )
    return {}
  }
  const mapped = steps.flatMap((step, at): RollingSyncStep[] => {
    const expressions = (Array.isArray(step['matchExpressions']) ? step['matchExpressions'] : []) as LabelRequirement[]
    const found: LabelRequirement[] = []
    for (const { key, operator, values = [] } of expressions) {
      const word = solePlaceholder(labels[key] ?? '')
      if (word?.startsWith('labels/')) found.push({ key: word.slice('labels/'.length), operator, values })
      else {
        scene.wrong(
          `strategy.rollingSync.steps[${at}]: ${key} is no label that the template takes from the cluster ({{metadata.labels.KEY}})`,
        )
      }
    }
    const { maxUpdate } = step
    const limit = typeof maxUpdate === 'number' || typeof maxUpdate === 'string' ? { maxUpdate } : {}
    return [{ matchExpressions: found, ...limit }]
  })
  const { rings, notes } = fromRollingSync(mapped)
  for (const note of notes) scene.note(`strategy.rollingSync: ${note}`)
  return { rings: [...rings, { name: 'rest' }] }
}
