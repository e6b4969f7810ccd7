import { openBareControlPlaneHome } from '../../testing/api-contract-home.ts'
import { SPOILED_CASES } from '../../testing/api-contract-spoiled.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('spoiled built-in kinds, on a kube-apiserver', openBareControlPlaneHome, {}, SPOILED_CASES)
