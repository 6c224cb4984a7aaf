#include "boundary/mcp/mcp.h"
