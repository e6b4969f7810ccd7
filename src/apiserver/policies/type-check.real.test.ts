import { openControlPlaneHome } from '../../testing/api-contract/homes.ts'
import { TYPE_CHECK_CASES } from '../../testing/api-contract/policies/type-checks.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('type checks of policies on a real control plane', openControlPlaneHome, {}, TYPE_CHECK_CASES)
