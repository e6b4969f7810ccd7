import { openBareControlPlaneHome } from '../../testing/api-contract-home.ts'
import { LEFT_OUT_CASES } from '../../testing/api-contract-left-out.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('built-in kinds with a field left out, on a kube-apiserver', openBareControlPlaneHome, {}, LEFT_OUT_CASES)
