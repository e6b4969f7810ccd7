import { openEmbeddedHome } from '../../testing/api-contract-home.ts'
import { QUOTA_CASES } from '../../testing/api-contract-quota.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('quotas and limits on our server', openEmbeddedHome, {}, QUOTA_CASES)
