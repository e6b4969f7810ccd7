import { openControlPlaneHome } from '../../testing/api-contract-home.ts'
import { NEW_POD_CASES } from '../../testing/api-contract-new-pods.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('new pods on a real control plane', openControlPlaneHome, {}, NEW_POD_CASES)
