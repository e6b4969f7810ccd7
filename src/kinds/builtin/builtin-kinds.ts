import type { Kind } from '../define-kind.ts'
import { CustomResourceDefinition } from './apiextensions.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from './admission.ts'
import { Lease } from './coordination.ts'
import { ConfigMap, Event, Namespace, Secret, ServiceAccount } from './core.ts'
import { EventsEvent } from './events.ts'
import { TABLE_KINDS } from './kind-table.ts'
import { RBAC_KINDS } from './rbac.ts'
import { REVIEW_KINDS } from './reviews.ts'

/** Kubernetes' own kinds that a hub works with. */
export const HUB_BUILTIN_KINDS: readonly Kind[] = [
  Namespace,
  ConfigMap,
  Secret,
  ServiceAccount,
  Event,
  EventsEvent,
  Lease,
  CustomResourceDefinition,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ...RBAC_KINDS,
  ...REVIEW_KINDS,
]

/** All of Kubernetes' own kinds that an embedded cluster serves. */
export const BUILTIN_KINDS: readonly Kind[] = [...TABLE_KINDS, ...REVIEW_KINDS]
