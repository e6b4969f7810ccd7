import { openEmbeddedHome } from '../../testing/api-contract/homes.ts'
import { QUOTA_CASES } from '../../testing/api-contract/workloads/quota.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('quotas and limits on our server', openEmbeddedHome, {}, QUOTA_CASES)
