import { openControlPlaneHome } from '../../testing/api-contract/homes.ts'
import { OWNER_CASES } from '../../testing/api-contract/workloads/garbage-collection.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('owners and namespaces on a real control plane', openControlPlaneHome, {}, OWNER_CASES)
