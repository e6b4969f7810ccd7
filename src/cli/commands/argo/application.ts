/** An Application of Argo CD, as far as commands print it. */
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'

export interface ApplicationSource {
  readonly repoURL?: string
  readonly path?: string
  readonly chart?: string
  readonly ref?: string
  readonly targetRevision?: string
}

export interface Deployment {
  readonly id: number
  readonly deployedAt: string
  readonly revision?: string
  readonly revisions?: readonly string[]
  readonly source?: ApplicationSource
  readonly sources?: readonly ApplicationSource[]
}

export interface Application extends KubeObject {
  readonly spec: {
    readonly project?: string
    readonly source?: ApplicationSource
    readonly sources?: readonly ApplicationSource[]
    readonly destination?: { readonly name?: string; readonly server?: string; readonly namespace?: string }
    readonly syncPolicy?: { readonly automated?: { readonly enabled?: boolean; readonly prune?: boolean } }
  }
  readonly operation?: object
  readonly status?: {
    readonly sync?: { readonly status: string; readonly revision?: string; readonly revisions?: readonly string[] }
    readonly health?: { readonly status: string; readonly message?: string }
    readonly conditions?: readonly { readonly type: string; readonly message: string }[]
    readonly operationState?: {
      readonly phase: string
      readonly message?: string
      readonly startedAt: string
      readonly finishedAt?: string
    }
    readonly history?: readonly Deployment[]
    readonly resources?: readonly {
      readonly group?: string
      readonly kind: string
      readonly namespace?: string
      readonly name: string
      readonly status?: string
      readonly requiresPruning?: boolean
      readonly hook?: boolean
      readonly health?: { readonly status: string; readonly message?: string }
    }[]
  }
}

/** Applications, without their schema: loading it would double the time to the first byte. */
export const APPLICATIONS: ResourceType<Application> = {
  group: 'argoproj.io',
  version: 'v1alpha1',
  kind: 'Application',
  plural: 'applications',
  scope: 'Namespaced',
}
