import type { LabelSelector } from '../../core/text/label-selector.ts'
import type { KubeObject } from '../meta.ts'
import { builtinKind } from './kind-table.ts'

/** What workloads make pods from, as far as this project looks into it. */
export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
  spec?: { containers?: { name?: string; image?: string; [field: string]: unknown }[]; [field: string]: unknown }
}

/** A number of equal pods, kept and rolled over. */
export interface Deployment extends KubeObject {
  spec: {
    replicas?: number
    selector: LabelSelector
    template: PodTemplate
    strategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string } }
    minReadySeconds?: number
    revisionHistoryLimit?: number
    progressDeadlineSeconds?: number
    paused?: boolean
  }
  status?: {
    observedGeneration?: number
    replicas?: number
    updatedReplicas?: number
    readyReplicas?: number
    availableReplicas?: number
    unavailableReplicas?: number
    conditions?: {
      type: string
      status: string
      lastUpdateTime?: string | null
      lastTransitionTime?: string | null
      reason?: string
      message?: string
    }[]
  }
}
export const Deployment = builtinKind<Deployment>('apps/v1', 'Deployment')
