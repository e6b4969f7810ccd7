import { openEmbeddedHome } from '../../testing/api-contract/homes.ts'
import { BAD_INPUT_CASES } from '../../testing/api-contract/verbs/bad-input.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'

apiContract('bad input on our server', openEmbeddedHome, {}, BAD_INPUT_CASES)
