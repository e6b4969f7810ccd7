import type { KubeObject } from '../meta.ts'
import { builtinKind } from './kind-table.ts'

/** A scope for names. */
export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] }
  status?: {
    phase?: string
    conditions?: {
      type: string
      status: string
      lastTransitionTime?: string | null
      reason?: string
      message?: string
    }[]
  }
}
export const Namespace = builtinKind<Namespace>('v1', 'Namespace')

/** Configuration as keys and texts. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>
  binaryData?: Record<string, string>
  immutable?: boolean
}
export const ConfigMap = builtinKind<ConfigMap>('v1', 'ConfigMap')

/** Secret data; values are base64. */
export interface Secret extends KubeObject {
  data?: Record<string, string>
  stringData?: Record<string, string>
  type?: string
  immutable?: boolean
}
export const Secret = builtinKind<Secret>('v1', 'Secret')

/** A reference to an object, as events have it. */
export interface ObjectReference {
  apiVersion?: string
  kind?: string
  namespace?: string
  name?: string
  uid?: string
  resourceVersion?: string
  fieldPath?: string
}

/** An identity for processes in pods. */
export interface ServiceAccount extends KubeObject {
  secrets?: ObjectReference[]
  imagePullSecrets?: { name?: string }[]
  automountServiceAccountToken?: boolean
}
export const ServiceAccount = builtinKind<ServiceAccount>('v1', 'ServiceAccount')

/** An Event about an object. */
export interface Event extends KubeObject {
  involvedObject: ObjectReference
  reason?: string
  message?: string
  source?: { component?: string; host?: string }
  firstTimestamp?: string | null
  lastTimestamp?: string | null
  count?: number
  type?: string
  eventTime?: string | null
  series?: { count?: number; lastObservedTime?: string | null }
  action?: string
  related?: ObjectReference
  reportingComponent?: string
  reportingInstance?: string
}
export const Event = builtinKind<Event>('v1', 'Event')
