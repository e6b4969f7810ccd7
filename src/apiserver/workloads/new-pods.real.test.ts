import { openControlPlaneHome } from '../../testing/api-contract/homes.ts'
import { NEW_POD_CASES } from '../../testing/api-contract/workloads/pod-admission.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('new pods on a real control plane', openControlPlaneHome, {}, NEW_POD_CASES)
