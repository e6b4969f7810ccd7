import { openBareEmbeddedHome } from '../../testing/api-contract/homes.ts'
import { LEFT_OUT_CASES } from '../../testing/api-contract/builtin/missing-fields.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('built-in kinds with a field left out, on our server', openBareEmbeddedHome, {}, LEFT_OUT_CASES)
