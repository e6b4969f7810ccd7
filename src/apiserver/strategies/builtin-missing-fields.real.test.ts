import { openBareControlPlaneHome } from '../../testing/api-contract/homes.ts'
import { LEFT_OUT_CASES } from '../../testing/api-contract/builtin/missing-fields.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('built-in kinds with a field left out, on a kube-apiserver', openBareControlPlaneHome, {}, LEFT_OUT_CASES)
