/* The program of abroad.h, with every boundary. */
#include "abroad.h"

#include "mishap/main.h"

int main(int count, char **arguments)
{
    abroad_begin();
    return mishap_main(count, arguments, &abroad_app);
}
