import { AGE } from '../define-kind.ts'
import type { ObjOf } from '../define-kind.ts'
import { defineBuiltin, fields, INT32, opt, TEXT, TIME } from './vocabulary.ts'

/** A lease: who holds something, and until when. */
export const Lease = defineBuiltin({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  description: 'Who holds something, and since when.',
  fields: fields({
    spec: opt(
      fields({
        holderIdentity: opt(TEXT),
        leaseDurationSeconds: opt(INT32),
        acquireTime: opt(TIME),
        renewTime: opt(TIME),
        leaseTransitions: opt(INT32),
        strategy: opt(TEXT),
        preferredHolder: opt(TEXT),
      }),
    ),
  }),
  columns: [{ name: 'Holder', type: 'string', jsonPath: '.spec.holderIdentity' }, AGE],
})
export type Lease = ObjOf<typeof Lease>
