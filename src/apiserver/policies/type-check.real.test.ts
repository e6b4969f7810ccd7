import { openControlPlaneHome } from '../../testing/api-contract-home.ts'
import { TYPE_CHECK_CASES } from '../../testing/api-contract-type-checks.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('type checks of policies on a real control plane', openControlPlaneHome, {}, TYPE_CHECK_CASES)
