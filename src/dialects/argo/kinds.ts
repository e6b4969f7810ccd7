// Tested by src/dialects/argo/served/application.sim.test.ts
/** Application, ApplicationSet and AppProject of Argo CD, with the columns of their users. */
import type { JsonObject } from '../../core/json.ts'
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import { rawObject } from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'
import type { ApplicationSpec, ArgoSource } from './application.ts'
import type { CheckedProject } from './projects/validate-project.ts'

/** The API group of Argo CD. */
export const ARGO_GROUP = 'argoproj.io'
/** The namespace of Argo CD: its AppProjects count for all namespaces, its Secrets and ConfigMaps are settings. */
export const ARGO_NAMESPACE = 'argocd'
const VERSION = 'v1alpha1'

/** The states of a sync operation. */
export type OperationPhase = 'Running' | 'Terminating' | 'Failed' | 'Error' | 'Succeeded'

/** A request to sync. */
export interface Operation {
  sync?: {
    revision?: string
    revisions?: string[]
    prune?: boolean
    dryRun?: boolean
    resources?: JsonObject[]
    manifests?: string[]
    syncOptions?: string[]
    syncStrategy?: { apply?: { force?: boolean }; hook?: { force?: boolean } }
    source?: ArgoSource
    sources?: ArgoSource[]
  }
  initiatedBy?: { username?: string; automated?: boolean }
  info?: JsonObject[]
  retry?: { limit?: number }
}

/** The last sync operation. */
export interface OperationState {
  operation: Operation
  phase: OperationPhase
  message?: string
  startedAt: string
  finishedAt?: string
  syncResult?: { revision?: string; revisions?: string[]; source?: ArgoSource; sources?: ArgoSource[] }
}

/** A deployment of the past. */
export interface HistoryEntry {
  id: number
  revision?: string
  revisions?: string[]
  deployedAt: string
  deployStartedAt?: string
  initiatedBy?: Operation['initiatedBy']
  source?: ArgoSource
  sources?: ArgoSource[]
}

/** A condition of an Application: present while it holds. */
export interface ApplicationCondition {
  type: string
  message: string
  lastTransitionTime?: string
}

/** An object of an Application. */
export interface ApplicationResource {
  group?: string
  version?: string
  kind: string
  namespace?: string
  name: string
  status?: string
  health?: { status: string; message?: string }
  hook?: boolean
  requiresPruning?: boolean
}

/** The status of an Application. */
export interface ApplicationStatus {
  sync?: {
    status: string
    comparedTo?: { source?: ArgoSource; sources?: ArgoSource[]; destination?: JsonObject }
    revision?: string
    revisions?: string[]
  }
  health?: { status: string; message?: string; lastTransitionTime?: string }
  conditions?: ApplicationCondition[]
  operationState?: OperationState
  history?: HistoryEntry[]
  resources?: ApplicationResource[]
  sourceType?: string
  controllerNamespace?: string
}

/** Argo CD's Application. */
export interface Application extends KubeObject {
  spec: ApplicationSpec & { readonly project?: string }
  operation?: Operation
  status?: ApplicationStatus
}

const AS_THERE = 'As in Argo CD; what has no effect is in the status.'
const raw = (description: string) => toStructural(rawObject({ description }))

export const Application: Kind<Application> = kindOf<Application>({
  group: ARGO_GROUP,
  version: VERSION,
  kind: 'Application',
  plural: 'applications',
  scope: 'Namespaced',
  shortNames: ['app', 'apps'],
  description: 'Content of a repository and the cluster it is for; read by the Argo CD dialect of Flotilla.',
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: raw(AS_THERE),
    operation: raw('Requested sync. The hub removes the field when it starts the sync.'),
    status: raw('Observed state of the Application. Set by the hub.'),
  },
  columns: [
    { name: 'Sync Status', type: 'string', jsonPath: '.status.sync.status' },
    { name: 'Health Status', type: 'string', jsonPath: '.status.health.status' },
    { name: 'Revision', type: 'string', jsonPath: '.status.sync.revision', priority: 10 },
    { name: 'Project', type: 'string', jsonPath: '.spec.project', priority: 10 },
  ],
})

/** An Application in the steps of RollingSync. */
export interface StepStatus {
  application: string
  status: string
  step: string
  message?: string
  targetRevisions?: string[]
  lastTransitionTime?: string
}

/** Argo CD's ApplicationSet. */
export interface ApplicationSet extends KubeObject {
  spec: JsonObject
  status?: {
    conditions?: Condition[]
    health?: { status: string; message?: string; lastTransitionTime?: string }
    resources?: ApplicationResource[]
    resourcesCount?: number
    applicationStatus?: StepStatus[]
  }
}

export const ApplicationSet: Kind<ApplicationSet> = kindOf<ApplicationSet>({
  group: ARGO_GROUP,
  version: VERSION,
  kind: 'ApplicationSet',
  plural: 'applicationsets',
  scope: 'Namespaced',
  shortNames: ['appset', 'appsets'],
  description: 'Template and generators of Applications; read by the Argo CD dialect of Flotilla.',
  subresources: { status: true },
  required: ['spec'],
  events: { warnWhenTrue: ['ErrorOccurred', 'Held'] },
  fields: { spec: raw(AS_THERE), status: raw('Observed state of the ApplicationSet. Set by the hub.') },
  columns: [{ name: 'Health', type: 'string', jsonPath: '.status.health.status', priority: 1 }, AGE],
})

/** Argo CD's AppProject. */
export interface AppProject extends KubeObject {
  spec: CheckedProject
  status?: JsonObject
}

export const AppProject: Kind<AppProject> = kindOf<AppProject>({
  group: ARGO_GROUP,
  version: VERSION,
  kind: 'AppProject',
  plural: 'appprojects',
  scope: 'Namespaced',
  shortNames: ['appproj', 'appprojs'],
  description: 'Limits of the Applications that name it; read by the Argo CD dialect of Flotilla.',
  required: ['spec'],
  fields: { spec: raw(AS_THERE), status: raw('Not set by the hub.') },
})

/** The kinds that the dialect serves. */
export const ARGO_KINDS: readonly Kind[] = [Application, ApplicationSet, AppProject] as readonly Kind[]
