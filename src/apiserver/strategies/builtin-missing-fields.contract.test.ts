import { openBareEmbeddedHome } from '../../testing/api-contract-home.ts'
import { LEFT_OUT_CASES } from '../../testing/api-contract-left-out.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('built-in kinds with a field left out, on our server', openBareEmbeddedHome, {}, LEFT_OUT_CASES)
