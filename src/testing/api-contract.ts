import { after, before, describe, it } from 'node:test'
import type { Transport } from '../core/http.ts'
import { ABOUT_CASES } from './api-contract-about.ts'
import { APPLY_CASES } from './api-contract-apply.ts'
import { CASCADE_CASES } from './api-contract-cascade.ts'
import { CRD_OBJECT_CASES } from './api-contract-crd-objects.ts'
import { CRD_CASES } from './api-contract-crd.ts'
import { createApi } from './api-contract-harness.ts'
import type { ApiCase } from './api-contract-harness.ts'
import { ITEM_CASES } from './api-contract-items.ts'
import { KUBECTL_CASES } from './api-contract-kubectl.ts'
import { FIXED_CASES } from './api-contract-fixed.ts'
import { GRACE_CASES } from './api-contract-grace.ts'
import { LIFECYCLE_CASES } from './api-contract-lifecycle.ts'
import { MUTATION_CASES } from './api-contract-mutations.ts'
import { PATCH_CASES } from './api-contract-patch.ts'
import { RBAC_CASES } from './api-contract-rbac.ts'
import { APPROVAL_CASES } from './api-contract-approvals.ts'
import { POD_CASES } from './api-contract-pods.ts'
import { POLICY_CASES } from './api-contract-policies.ts'
import { READ_CASES } from './api-contract-read.ts'
import { REGISTERED_CASES } from './api-contract-registered.ts'
import { REVIEW_CASES } from './api-contract-reviews.ts'
import { STRICT_CASES } from './api-contract-strict.ts'
import { WRITE_CASES } from './api-contract-write.ts'

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
