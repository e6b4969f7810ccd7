import { after, before, describe, it } from 'node:test'
import type { Transport } from '../../core/http.ts'
import { ABOUT_CASES } from './verbs/discovery.ts'
import { APPLY_CASES } from './verbs/apply.ts'
import { CASCADE_CASES } from './verbs/delete-propagation.ts'
import { CRD_OBJECT_CASES } from './crd/custom-objects.ts'
import { CRD_CASES } from './crd/definitions.ts'
import { createApi } from './harness.ts'
import type { ApiCase } from './harness.ts'
import { ITEM_CASES } from './verbs/list-parameters.ts'
import { KUBECTL_CASES } from './verbs/kubectl.ts'
import { FIXED_CASES } from './builtin/validation.ts'
import { GRACE_CASES } from './workloads/pod-termination.ts'
import { LIFECYCLE_CASES } from './builtin/lifecycle.ts'
import { MUTATION_CASES } from './policies/mutating-policies.ts'
import { PATCH_CASES } from './verbs/patch.ts'
import { RBAC_CASES } from './access/rbac.ts'
import { APPROVAL_CASES } from './access/approvals.ts'
import { POD_CASES } from './workloads/pod-subresources.ts'
import { POLICY_CASES } from './policies/validating-policies.ts'
import { READ_CASES } from './verbs/read.ts'
import { REGISTERED_CASES } from './access/csr-and-nodes.ts'
import { REVIEW_CASES } from './access/reviews.ts'
import { STRICT_CASES } from './verbs/field-validation.ts'
import { WRITE_CASES } from './verbs/write.ts'

/** A Kubernetes API under test: our kinds and Gadget are served, the transport speaks as an administrator. */
export interface ApiUnderTest {
  readonly transport: Transport
  cleanup(): Promise<void>
}

/** All cases of the contract. */
export const API_CASES: readonly ApiCase[] = [
  ...WRITE_CASES,
  ...READ_CASES,
  ...ITEM_CASES,
  ...PATCH_CASES,
  ...APPLY_CASES,
  ...ABOUT_CASES,
  ...RBAC_CASES,
  ...REGISTERED_CASES,
  ...REVIEW_CASES,
  ...STRICT_CASES,
  ...CRD_CASES,
  ...CRD_OBJECT_CASES,
  ...POLICY_CASES,
  ...MUTATION_CASES,
  ...APPROVAL_CASES,
  ...KUBECTL_CASES,
  ...POD_CASES,
  ...GRACE_CASES,
  ...FIXED_CASES,
  ...LIFECYCLE_CASES,
  ...CASCADE_CASES,
]

/** Runs the contract over a home; `skips` names cases with the reason why this home differs. */
export function apiContract(
  name: string,
  open: () => Promise<ApiUnderTest>,
  skips: Readonly<Record<string, string>> = {},
  cases: readonly ApiCase[] = API_CASES,
): void {
  describe(`api contract: ${name}`, { timeout: 180_000 }, () => {
    let home: ApiUnderTest
    before(async () => {
      home = await open()
    })
    after(() => home?.cleanup())
    for (const [index, { title, run }] of cases.entries()) {
      const skip = skips[title] ?? false
      it(title, { skip }, async () => {
        const namespace = `case-${index}`
        const api = createApi(home.transport, namespace)
        await api.ok('POST', '/api/v1/namespaces', {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: namespace },
        })
        await run(api)
      })
    }
  })
}
