import type { Kind } from './define-kind.ts'
import { CustomResourceDefinition } from './builtin/apiextensions.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from './builtin/admission.ts'
import { Lease } from './builtin/coordination.ts'
import { ConfigMap, Event, Namespace, Secret, ServiceAccount } from './builtin/core.ts'
import { EventsEvent } from './builtin/events.ts'
import { TABLE_KINDS } from './builtin/from-table.ts'
import { RBAC_KINDS } from './builtin/rbac.ts'
import { REVIEW_KINDS } from './builtin/reviews.ts'

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
