import { BUILTIN_CASES } from '../../testing/api-contract-builtin.ts'
import { openBareControlPlaneHome } from '../../testing/api-contract-home.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('built-in kinds of a kube-apiserver', openBareControlPlaneHome, {}, BUILTIN_CASES)
