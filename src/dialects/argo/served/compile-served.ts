// Tested by src/dialects/argo/served/application.sim.test.ts
/** Compiles Applications that the hub serves: to Sources, and to Placement, RolloutPlan and Bundle of each. */
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { isObject } from '../../../core/json.ts'
import { allowsSecrets } from '../../../kinds/fields/secrets-annotation.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { ApplicationTraits } from '../application.ts'
import { readFields } from '../../read-fields.ts'
import { compileApplication } from '../compile/compile-application.ts'
import { createImportedObjects } from '../compile/imported-objects.ts'
import type { ImportedObjects } from '../compile/imported-objects.ts'
import { APPLICATION } from '../fields.ts'
import type { Repositories } from '../files/repositories.ts'
import type { Application } from '../kinds.ts'
import type { AccessAnswer } from '../repositories/repository-secrets.ts'
import { ownedObject, sourceOwnerOf } from './served-objects.ts'
import { SPEC_LABEL } from './rolling/rolling-applications.ts'
import type { Desired, Owner } from './served-objects.ts'

/** An Application, or Applications that differ in their cluster alone, and where they go. */
export interface ServedApplication {
  /** The name of the Bundle. */
  readonly bundle: string
  readonly application: Pick<Application, 'metadata' | 'spec'>
  /** What a sync that a user asked for changes, besides the spec. */
  readonly operation?: ApplicationTraits['operation']
  /** Rules of `argocd-cm`. */
  readonly settings?: ApplicationTraits['settings']
  /** The digest of the spec, if the set of the Application has steps. */
  readonly stepKey?: string
  /** The rings of the RolloutPlan. Defaults to those of every plan. */
  readonly rings?: RolloutPlan['spec']['rings']
  /** Whether the hub takes the Applications of the content. */
  readonly takesApplications?: boolean
  /** Names of Clusters. */
  readonly clusters: readonly string[]
}

/** The objects, and what is to be said about them. */
export interface CompiledApplications {
  readonly desired: readonly Desired[]
  /** What has no effect, or another one, by the Bundle. */
  readonly notes: ReadonlyMap<string, readonly string[]>
  /** Why a Bundle is not made. */
  readonly problems: ReadonlyMap<string, readonly string[]>
}

/** Argo CD asks a repository every three minutes. */
const INTERVAL = '3m'
const MAX_CEL = 4000
const MAX_PREDICATES = 32

/** The credentials of a repository by the address of its Source. */
export type AccessOf = (url: string) => AccessAnswer

/** Compiles; `repositoryOf` gives undefined for a repository that was not fetched yet. */
export function compileServed(
  owner: Owner,
  applications: readonly ServedApplication[],
  repositoryOf: Repositories['of'],
  accessOf: AccessOf = () => undefined,
): CompiledApplications {
  const { namespace = '' } = owner.metadata
  const objects = namedAfter(sourceOwnerOf(owner).metadata.name, createImportedObjects(namespace), accessOf)
  const notes = new Map<string, string[]>()
  const problems = new Map<string, string[]>()
  for (const served of applications) {
    const add = (to: Map<string, string[]>) => (message: string) => {
      const said = to.get(served.bundle) ?? []
      if (!said.includes(message)) to.set(served.bundle, [...said, message])
    }
    const scene = { note: add(notes), wrong: add(problems) }
    compileOne(served, { ...scene, objects, repositoryOf })
  }
  const desired = objects.all().map((object) => desiredOf(owner, object))
  return { desired, notes, problems }
}

interface Scene {
  readonly objects: ImportedObjects
  readonly repositoryOf: Repositories['of']
  note(message: string): void
  wrong(message: string): void
}

function compileOne(
  {
    bundle,
    application,
    clusters,
    operation,
    settings = {},
    stepKey,
    rings,
    takesApplications = false,
  }: ServedApplication,
  scene: Scene,
): void {
  const { metadata, spec } = application
  const read = readFields(isObject(spec) ? { ...spec, project: undefined } : {}, APPLICATION, {
    system: 'Argo CD',
    report: (level, _path, message) => (level === 'error' ? scene.wrong(message) : scene.note(message)),
  })
  const predicates = predicatesOf(clusters)
  if (predicates.length > MAX_PREDICATES) {
    scene.wrong(`${clusters.length} clusters are more than a Placement can name`)
  }
  const placement = scene.objects.add(Placement, bundle, { spec: { clusterSelector: {}, predicates } })
  const plan = scene.objects.add(RolloutPlan, bundle, { spec: compact({ start: 'Manual', rings }) })
  compileApplication(
    compact({
      name: bundle,
      ownName: metadata.name,
      labels: metadata.labels ?? {},
      finalizers: metadata.finalizers ?? [],
      allowsSecrets: allowsSecrets({ metadata }) ? true : undefined,
      spec: read,
      project: application.spec.project,
      operation,
      settings,
      isStepped: stepKey === undefined ? undefined : true,
    }),
    {
      ...scene,
      objects: labelled(scene.objects, stepKey),
      delivery: { placement, plan },
      clusterOf: () => undefined,
      takesApplications,
    },
  )
}

/** Bundles tell which spec they were compiled from. */
function labelled(objects: ImportedObjects, stepKey: string | undefined): ImportedObjects {
  if (stepKey === undefined) return objects
  return {
    ...objects,
    add: (kind, wanted, content) =>
      kind === Bundle
        ? objects.add(kind, wanted, { ...content, labels: { ...content.labels, [SPEC_LABEL]: stepKey } })
        : objects.add(kind, wanted, content),
  }
}

function predicatesOf(clusters: readonly string[]): { readonly cel: readonly string[] }[] {
  const parts: string[][] = [[]]
  let length = 0
  for (const cluster of clusters) {
    const text = JSON.stringify(cluster)
    if (length + text.length > MAX_CEL) {
      parts.push([])
      length = 0
    }
    parts.at(-1)!.push(text)
    length += text.length + 2
  }
  return parts.map((names) => ({ cel: [`cluster.metadata.name in [${names.join(', ')}]`] }))
}

/** Sources of different owners have different names; Placements and plans of one owner are never shared. */
function namedAfter(owner: string, objects: ImportedObjects, accessOf: AccessOf): ImportedObjects {
  return {
    ...objects,
    add(kind: Kind, wanted, content) {
      // The digest makes the name the same in each Application of a set.
      if (kind === Source) {
        const location = content.spec as Source['spec']
        const found = accessOf(sourceUrlOf(location))
        const access = found && 'secret' in found ? found : undefined
        const credentials = access?.secret.metadata.name
        const digest = digestOfJson(access?.isScoped ? { location, credentials } : location)
        const spec = compact({ ...location, credentials })
        return objects.add(kind, `${owner}-${wanted}-${digest.slice(7, 13)}`, { ...content, spec })
      }
      if (kind === Bundle) return objects.add(kind, wanted, content)
      const labels = { 'argocd.argoproj.io/instance': wanted.slice(0, 63).replace(/[^a-z0-9]+$/, '') }
      return objects.add(kind, wanted, { ...content, labels: { ...content.labels, ...labels } })
    },
  }
}

/** The address of a Source. */
export function sourceUrlOf({ git, helm, oci }: Pick<Source['spec'], 'git' | 'helm' | 'oci'>): string {
  return git?.url ?? helm?.url ?? oci?.url ?? ''
}

function desiredOf(owner: Owner, { kind, metadata, ...rest }: UnknownObject): Desired {
  const type = [Source, Placement, RolloutPlan, Bundle].find((one) => one.kind === kind)! as Kind
  const { name, labels } = metadata
  const isSource = kind === Source.kind
  const spec = isSource ? { ...(rest['spec'] as object), interval: INTERVAL } : rest['spec']
  return ownedObject(isSource ? sourceOwnerOf(owner) : owner, type, { name, spec, ...compact({ labels }) })
}
