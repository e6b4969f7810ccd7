/** Applications and ApplicationSets of Argo CD as Flotilla's own objects, for whoever leaves Argo CD. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LabelRequirement } from '../../core/selector.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { fromRollingSync } from '../../plan/rollout-mappings.ts'
import type { RollingSyncStep } from '../../plan/rollout-mappings.ts'
import type { Fields } from '../field-table.ts'
import { readFields } from '../read-fields.ts'
import type { Reading } from '../read-fields.ts'
import { onlyWord, withoutMarks } from './cluster-words.ts'
import { compileApplication } from './compile-application.ts'
import type { Application, CompileScene } from './compile-application.ts'
import { APPLICATION, APPLICATION_SET } from './fields.ts'
import { fillTexts } from './fill-template.ts'
import { generate } from './generate.ts'
import type { Generator, ParameterSet } from './generate.ts'
import { createOwnObjects } from './own-objects.ts'

/** The group of Argo CD's kinds. */
export const ARGO_GROUP = 'argoproj.io'

/** What is imported. */
export interface ApplicationsRequest {
  readonly objects: readonly UnknownObject[]
  readonly namespace: string
  /** Clusters by what Argo CD calls them: name or address. */
  readonly clusters: ReadonlyMap<string, string>
  /** Who gets everything, whatever the destinations say. */
  readonly everybody?: readonly LabelRequirement[]
  /** The paths of the one repository that is on this disk. */
  readonly paths?: readonly string[]
}

/** What came out; with problems, something of it is not in the objects. */
export interface ImportedApplications {
  readonly objects: readonly UnknownObject[]
  readonly notes: readonly string[]
  readonly problems: readonly string[]
}

/** Whether an object is an Application or an ApplicationSet. */
export function isOfArgo({ apiVersion, kind }: UnknownObject): boolean {
  return apiVersion.startsWith(`${ARGO_GROUP}/`) && ['Application', 'ApplicationSet'].includes(kind)
}

/** Compiles them once. */
export function importApplications(request: ApplicationsRequest): ImportedApplications {
  const notes = new Set<string>()
  const problems = new Set<string>()
  const objects = createOwnObjects(request.namespace)
  const sets = new Set(
    request.objects.filter(({ kind }) => kind === 'ApplicationSet').map(({ metadata }) => metadata.name),
  )
  const given = request.objects.filter(
    (object) =>
      isOfArgo(object) &&
      !object.metadata.ownerReferences?.some(({ kind, name }) => kind === 'ApplicationSet' && sets.has(name)),
  )
  const urls = new Set(given.flatMap((object) => gitAddresses(object['spec'])))
  if (request.paths && urls.size > 1) {
    problems.add(
      `--root is one repository, and the files name ${[...urls].join(' and ')}; import those of each by themselves`,
    )
  }
  for (const object of given) {
    const who = `${object.kind} ${object.metadata.name}`
    const scene: CompileScene = {
      objects,
      note: (message) => void notes.add(`${who}: ${message}`),
      wrong: (message) => void problems.add(`${who}: ${message}`),
      clusterOf: (destination) => request.clusters.get(destination),
      pathsOf: (url) => (urls.size === 1 && urls.has(url) ? request.paths : undefined),
      ...(request.everybody ? { everybody: request.everybody } : {}),
    }
    const applications = object.kind === 'Application' ? [applicationOf(object, scene)] : generatedBy(object, scene)
    for (const application of applications) compileApplication(application, scene)
  }
  return { objects: objects.all(), notes: [...notes], problems: [...problems] }
}

/** Every address of a git repository below a spec. */
function gitAddresses(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(gitAddresses)
  if (!isObject(value)) return []
  const { repoURL, chart } = value
  const own =
    typeof repoURL === 'string' && !chart && !repoURL.startsWith('oci://') && !repoURL.includes('{{') ? [repoURL] : []
  return [...own, ...Object.values(value).flatMap(gitAddresses)]
}

function readSpec(spec: unknown, fields: Fields, reading: Reading): JsonObject {
  return readFields(isObject(spec) ? spec : {}, fields, reading, ['spec'])
}

function readingFor({ note, wrong }: CompileScene): Reading {
  return {
    system: 'Argo CD',
    report: (level, _path, message) => (level === 'error' ? wrong(message) : note(message)),
  }
}

function applicationOf({ metadata, ...rest }: UnknownObject, scene: CompileScene): Application {
  const { project, ...spec } = isObject(rest['spec']) ? rest['spec'] : {}
  const { finalizers = [] } = metadata as { finalizers?: readonly string[] }
  if (metadata.annotations?.['argocd.argoproj.io/sync-wave'] !== undefined) {
    scene.note('argocd.argoproj.io/sync-wave of an Application has no effect: write dependsOn of the Bundle')
  }
  return {
    name: metadata.name,
    ownName: metadata.name,
    labels: metadata.labels ?? {},
    finalizers,
    spec: readSpec(project === 'default' ? spec : { project, ...spec }, APPLICATION, readingFor(scene)),
  }
}

interface ApplicationSetSpec {
  readonly generators?: readonly Generator[]
  readonly goTemplate?: boolean
  readonly template?: JsonObject
  readonly syncPolicy?: { readonly preserveResourcesOnDeletion?: boolean }
  readonly strategy?: {
    readonly type?: string
    readonly rollingSync?: { readonly steps?: readonly JsonObject[] }
  }
}

const FINALIZER = 'resources-finalizer.argocd.argoproj.io'

/** The Applications that a set stands for; those that differ only in their cluster are one. */
function generatedBy(set: UnknownObject, scene: CompileScene): Application[] {
  const reading = readingFor(scene)
  const spec = readSpec(set['spec'], APPLICATION_SET, reading) as ApplicationSetSpec
  const isGo = spec.goTemplate === true
  const sets = (spec.generators ?? []).flatMap((generator) => generate(generator, { ...scene, isGo, reading }))
  if (sets.length === 0) scene.wrong('its generators give nothing, so there is nothing to take over')
  const keep = spec.syncPolicy?.preserveResourcesOnDeletion === true
  return sets.map((one) => {
    const filling = { isGo, parameters: one.parameters, ofCluster: one.clusters !== undefined, wrong: scene.wrong }
    const template = fillTexts(spec.template ?? {}, filling) as JsonObject
    const metadata = isObject(template['metadata']) ? template['metadata'] : {}
    const ownName = typeof metadata['name'] === 'string' ? metadata['name'] : set.metadata.name
    const finalizers = Array.isArray(metadata['finalizers']) ? (metadata['finalizers'] as string[]) : []
    const made = applicationOf(
      {
        ...template,
        apiVersion: set.apiVersion,
        kind: 'Application',
        metadata: {
          name: withoutMarks(ownName) || set.metadata.name,
          ...(isObject(metadata['labels']) ? { labels: metadata['labels'] as Record<string, string> } : {}),
        },
      },
      scene,
    )
    return {
      ...made,
      set: set.metadata.name,
      ownName,
      finalizers: finalizers.length > 0 || keep ? finalizers : [FINALIZER],
      ...(one.clusters ? { clusters: one.clusters } : {}),
      ...ringsOf(spec, made, { ...scene, set: one }),
    }
  })
}

/** Steps of RollingSync as rings: labels of Applications are those of clusters where the template takes them from there. */
function ringsOf(
  { strategy }: ApplicationSetSpec,
  { labels }: Application,
  scene: CompileScene & { readonly set: ParameterSet },
): { readonly rings?: readonly object[] } {
  const steps = strategy?.rollingSync?.steps ?? []
  if (strategy?.type !== 'RollingSync' || steps.length === 0 || !scene.set.clusters) return {}
  const mapped = steps.flatMap((step, at): RollingSyncStep[] => {
    const expressions = (Array.isArray(step['matchExpressions']) ? step['matchExpressions'] : []) as LabelRequirement[]
    const found: LabelRequirement[] = []
    for (const { key, operator, values = [] } of expressions) {
      const word = onlyWord(labels[key] ?? '')
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
