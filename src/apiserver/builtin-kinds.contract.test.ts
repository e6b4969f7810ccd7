import { BUILTIN_CASES } from '../testing/api-contract-builtin.ts'
import { openEmbeddedHome } from '../testing/api-contract-home.ts'
import { apiContract } from '../testing/api-contract.ts'

apiContract('built-in kinds of the embedded server', openEmbeddedHome, {}, BUILTIN_CASES)
