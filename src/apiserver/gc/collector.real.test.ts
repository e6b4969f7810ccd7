import { openControlPlaneHome } from '../../testing/api-contract-home.ts'
import { OWNER_CASES } from '../../testing/api-contract-owners.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('owners and namespaces on a real control plane', openControlPlaneHome, {}, OWNER_CASES)
