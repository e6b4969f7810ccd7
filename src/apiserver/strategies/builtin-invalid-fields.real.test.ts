import { openBareControlPlaneHome } from '../../testing/api-contract/homes.ts'
import { SPOILED_CASES } from '../../testing/api-contract/builtin/invalid-specs.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('spoiled built-in kinds, on a kube-apiserver', openBareControlPlaneHome, {}, SPOILED_CASES)
