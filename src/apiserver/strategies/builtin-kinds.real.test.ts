import { BUILTIN_CASES } from '../../testing/api-contract/builtin/builtin-kinds.ts'
import { openBareControlPlaneHome } from '../../testing/api-contract/homes.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('built-in kinds of a kube-apiserver', openBareControlPlaneHome, {}, BUILTIN_CASES)
